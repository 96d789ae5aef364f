// Durations of done attempts.
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

/// Kinds and ids of an attempt's attentions and of its task. Only attempts with equal sets are compared by time.
using Ran = std::set<std::pair<std::string, std::string>>;
Ran ran(const std::vector<UsedPlugin>& plugins);

struct DoneTime {
  double wall_s;
  std::int64_t steps;           ///< 0: not known
  std::int64_t peak_bytes = 0;  ///< resident memory; 0: not known
};

/// Returns the times of all done attempts.
std::map<Ran, std::vector<DoneTime>> done_times(const Reader& reader);

}  // namespace ablate::db
