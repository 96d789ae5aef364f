#define ABLATE_FORM avx512
#include "core/kernels/cpu/all_forms.h"
