// The program that precompiled.h is compiled for: an executable, since tests are compiled as executables are.
int main() { return 0; }
