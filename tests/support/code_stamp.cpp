// Code stamp of a plugin's library (ABLATE_EXPORT_PLUGIN), for plugins that are defined in a test.
#include "ablate/plugin.h"

extern "C" const ablate::CodeStamp ablate_code = {};
