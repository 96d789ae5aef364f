// Dropout: sets random numbers to 0 (Srivastava et al. 2014).
#pragma once

#include "ablate/tensor.h"

namespace ablate::kernels {

/// Returns the factors of dropout: 0 with the given probability (rounded to 31 binary digits), otherwise 1 / (1 - probability).
/// Draws one number from torch's global CPU generator and expands it (core/kernels/cpu/noise.h). The draws of at::dropout (MKL)
/// take 12 times as long: as long as a layer's products. `probability` is in (0, 1). Returns float32, CPU.
Tensor dropout_noise(IntArrayRef sizes, double probability);

/// Returns x times dropout_noise() on the CPU, and at::dropout(x) on other devices. `probability` is in [0, 1); 0: no draws.
Tensor dropout(const Tensor& x, double probability);

}  // namespace ablate::kernels
