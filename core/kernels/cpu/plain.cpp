#define ABLATE_FORM plain
#include "core/kernels/cpu/all_forms.h"
