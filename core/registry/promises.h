// The promises of Capabilities that are yes or no, as every part of the host names them.
#pragma once

#include <span>

#include "ablate/plugin.h"

namespace ablate {

struct Promise {
  const char* name;  ///< as in Capabilities
  bool Capabilities::*field;
  bool attention, compression;  ///< whose it is
  const char* says;             ///< to a reader
};

std::span<const Promise> promises();

}  // namespace ablate
