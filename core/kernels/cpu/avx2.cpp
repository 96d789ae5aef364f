#define ABLATE_FORM avx2
#include "core/kernels/cpu/all_forms.h"
