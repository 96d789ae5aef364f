// A plugin's parameters with their values, as the host hands them in. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ablate/rate.h"

namespace ablate {

/// The values of exactly the parameters that the plugin's schema declares, every default filled in, every value checked.
/// Asking for a name that the schema lacks, or with another type, throws std::logic_error: it is a fault in the plugin.
/// Owned by the host; valid only during the call it was handed to; what it returns is the caller's. Any thread.
class Values {
 public:
  virtual ~Values() = default;
  virtual bool boolean(const char* name) const = 0;
  virtual std::int64_t integer(const char* name) const = 0;
  virtual double real(const char* name) const = 0;
  virtual std::string text(const char* name) const = 0;
  virtual Rate rate(const char* name) const = 0;
  virtual std::vector<Rate> rates(const char* name) const = 0;
  virtual std::string file(const char* name) const = 0;       ///< a path as the study has it; "": none
  virtual std::int64_t count(const char* plugins) const = 0;  ///< how many plugins a list names; 1 for a single one
};

}  // namespace ablate
