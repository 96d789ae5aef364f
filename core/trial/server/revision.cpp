#include "core/trial/server/environment.h"
#include "git_revision.h"  // of the build

namespace ablate {

const char* git_revision() { return ABLATE_GIT; }

}  // namespace ablate
