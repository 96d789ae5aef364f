// What a plugin's library says of its code (ABLATE_EXPORT_PLUGIN), for plugins that stand in a test.
#include "ablate/plugin.h"

extern "C" const ablate::CodeStamp ablate_code = {};
