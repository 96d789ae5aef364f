// How long done attempts took.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/types/records.h"

namespace ablate::db {

class Reader;

/// What an attempt's time is compared by: the kinds and ids of its attentions and of its task.
using Ran = std::set<std::pair<std::string, std::string>>;
Ran ran(const std::vector<UsedPlugin>& plugins);

struct DoneTime {
  double wall_s;
  std::int64_t steps;           ///< 0: not known
  std::int64_t peak_bytes = 0;  ///< resident; 0: not known
};

/// Of all done attempts.
std::map<Ran, std::vector<DoneTime>> done_times(const Reader& reader);

}  // namespace ablate::db
