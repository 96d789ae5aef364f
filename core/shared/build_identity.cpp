#include "core/shared/build_identity.h"

#include "build_identity_digest.h"  // of the build

namespace ablate {

std::string build_identity() { return ABLATE_BUILD; }

}  // namespace ablate
