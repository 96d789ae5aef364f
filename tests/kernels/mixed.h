// Object that makes products mixed during its lifetime, if the machine has mixed products.
#pragma once

#include "core/kernels/mixed_products.h"

namespace ablate::test {

struct Mixed {
  Mixed() { kernels::multiply_mixed(!kernels::mixed_instructions().empty()); }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;
  ~Mixed() { kernels::multiply_mixed(false); }
};

}  // namespace ablate::test
