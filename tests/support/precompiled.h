// What most tests on tensors read, compiled once (tests/CMakeLists.txt). A test names all that it needs, for this may be left
// out.
#pragma once

#include <c10/util/Logging.h>  // before Catch, whose CHECK is meant

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
