// Promises of Capabilities that are true or false, with the names that every part of the host uses.
#pragma once

#include <span>

#include "ablate/plugin.h"

namespace ablate {

struct Promise {
  const char* name;  ///< its name in Capabilities
  bool Capabilities::*field;
  bool attention, compression;  ///< true if plugins of this kind can make the promise
  const char* says;             ///< text for users
};

std::span<const Promise> promises();

}  // namespace ablate
