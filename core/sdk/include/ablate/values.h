// Values of a plugin's parameters, from the host. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ablate/rate.h"

namespace ablate {

/// Values of exactly the parameters in the plugin's schema, with defaults filled in and every value checked. A request for a
/// name that is not in the schema, or for another type, throws std::logic_error, because it is a fault in the plugin. Owned by
/// the host and valid only during the call that received it. Returned values belong to the caller. Any thread.
class Values {
 public:
  virtual ~Values() = default;
  virtual bool boolean(const char* name) const = 0;
  virtual std::int64_t integer(const char* name) const = 0;
  virtual double real(const char* name) const = 0;
  virtual std::string text(const char* name) const = 0;
  virtual Rate rate(const char* name) const = 0;
  virtual std::vector<Rate> rates(const char* name) const = 0;
  virtual std::string file(const char* name) const = 0;       ///< path of a file, as in the study; "": none
  virtual std::int64_t count(const char* plugins) const = 0;  ///< number of plugins in a list; 1 for a single plugin
};

}  // namespace ablate
