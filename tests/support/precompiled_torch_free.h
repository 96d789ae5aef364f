// Headers of most torch-free tests, compiled once (tests/CMakeLists.txt). A test includes all headers that it needs, because
// a build may leave out this header.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.h"
