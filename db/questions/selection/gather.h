// Reads the rows of many trials or attempts in one query. Internal to db/.
#pragma once

#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "db/history/reader.h"

namespace ablate::db {

/// Visits each row of the wanted ids, with the index of its id in `ids`. Ignores the id 0. An id may occur several times.
/// @param sql takes the least and the greatest id as ?1 and ?2, and returns the id in column 0. One scan of tens of thousands
/// of rows is faster than a search for each id.
template <class F>
void gather(const Reader& reader, const std::string& sql, const std::vector<std::int64_t>& ids, F&& visit) {
  std::unordered_multimap<std::int64_t, std::size_t> places;
  auto first = INT64_MAX, last = std::int64_t{0};
  for (std::size_t at = 0; at < ids.size(); ++at) {
    if (ids[at] == 0) continue;
    places.emplace(ids[at], at);
    first = std::min(first, ids[at]), last = std::max(last, ids[at]);
  }
  if (places.empty()) return;
  SQLite::Statement ask(reader.database(), sql);
  ask.bind(1, first), ask.bind(2, last);
  while (ask.executeStep()) {
    const auto [begin, end] = places.equal_range(ask.getColumn(0).getInt64());
    for (auto at = begin; at != end; ++at) visit(at->second, ask);
  }
}

}  // namespace ablate::db
