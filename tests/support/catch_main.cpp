// Catch2 v2 makes its main function here; v3 brings one in a library of its own (tests/CMakeLists.txt).
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
