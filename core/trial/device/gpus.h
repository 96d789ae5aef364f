// What NVIDIA's driver says of the machine. Torch-free.
#pragma once

#include <string>
#include <vector>

namespace ablate {

struct Gpus {
  std::vector<std::string> names;  ///< "NVIDIA H200"; all of the machine, whatever CUDA_VISIBLE_DEVICES says
  std::string driver;              ///< its version; "" where there is none
};

/// Asks the driver's management library (NVML), which is loaded for that alone and does not start CUDA. Empty without one.
Gpus find_gpus();

}  // namespace ablate
