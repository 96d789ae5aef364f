// Dropping numbers at random (Srivastava et al. 2014).
#pragma once

#include "ablate/tensor.h"

namespace ablate::kernels {

/// What dropout multiplies by: each number is 0 with the probability, and 1 / (1 - probability) else, both as 31 binary digits
/// have it. Takes one number of torch's global CPU generator, and spreads it (core/kernels/cpu/noise.h): MKL's draws behind
/// at::dropout cost 12 times as much, as long as a layer's products. @return float32, on the CPU @param probability in (0, 1)
Tensor dropout_noise(IntArrayRef sizes, double probability);

/// x times that noise; on another device at::dropout, with its draws. @param probability in [0, 1): 0 draws nothing
Tensor dropout(const Tensor& x, double probability);

}  // namespace ablate::kernels
