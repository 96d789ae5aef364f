// A program whose precompiled header the tests reuse. It is an executable, because tests are compiled as executables.
int main() { return 0; }
