// What a result may depend on besides its trial.
#pragma once

#include <nlohmann/json.hpp>

namespace ablate {

/// Host, system, processor, GPUs and their driver, compiler, torch, the instruction set that it chose, libraries, the
/// environment variables that may change numbers ("variables", by name), ablate and its git revision. Does not start CUDA.
nlohmann::json describe_environment();

/// `git describe --always --dirty` when the worker was built; "" outside of a checkout.
const char* git_revision();

}  // namespace ablate
