// Headers of most tests on tensors, compiled once (tests/CMakeLists.txt). A test includes all headers that it needs, because
// a build may leave out this header.
#pragma once

#include <c10/util/Logging.h>  // before Catch: both define CHECK, and tests use Catch's

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "ablate/headwise.h"
#include "core/registry/library.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/model/instances.h"
#include "tests/support/catch.h"
