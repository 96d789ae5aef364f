// Program that a precompiled header is compiled for. It is an executable, because tests are compiled as executables.
int main() { return 0; }
