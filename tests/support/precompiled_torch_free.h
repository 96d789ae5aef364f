// What most torch-free tests read, compiled once (tests/CMakeLists.txt). A test names all that it needs, for this may be left
// out.
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
