// Environment of a result: everything outside the trial that the result may depend on.
#pragma once

#include <nlohmann/json.hpp>

namespace ablate {

/// Returns host, system, processor, GPUs and their driver, compiler, torch and its instruction set, libraries, ablate and its
/// git revision. "variables" has the environment variables that may change numbers, by name. Does not start CUDA.
nlohmann::json describe_environment();

/// Returns `git describe --always --dirty` of the time when the worker was built; "" outside a checkout.
const char* git_revision();

}  // namespace ablate
