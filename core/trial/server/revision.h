// Which source ablate was built from.
#pragma once

namespace ablate {

/// `git describe --always --dirty` when the worker was built; "" outside of a checkout.
const char* git_revision();

}  // namespace ablate
