// The program that a precompiled header is compiled for: an executable, since tests are compiled as executables are.
int main() { return 0; }
