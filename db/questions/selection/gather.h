// Rows of many ids, in few questions. Internal to db/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "db/history/row_visits.h"

namespace ablate::db {

/// Visits the rows of the wanted ids (ascending; an id may stand several times, for a trial of several experiments). The query
/// takes ?1 = leading, ?2 and ?3 = first and last id, gives the id in column 0, and walks a key or an index in its order. An
/// experiment's ids lie mostly side by side: then one walk over the index is many times cheaper than a search for each.
/// @param columns, from as RowVisits takes them
template <class F>
void gather(SQLite::Database& database, const char* columns, const char* from, std::int64_t leading,
            const std::vector<std::int64_t>& ids, F&& visit) {
  if (ids.empty()) return;
  RowVisits rows(database, columns, from);
  const auto span = ids.back() - ids.front() + 1;
  if (span / 8 <= static_cast<std::int64_t>(ids.size())) {
    std::size_t at = 0;
    rows.visit({leading, ids.front(), ids.back()}, [&](const VisitedRow& row) {
      const auto id = row.integer(0);
      while (at < ids.size() && ids[at] < id) ++at;
      for (auto same = at; same < ids.size() && ids[same] == id; ++same) visit(same, row);
    });
    return;
  }
  for (std::size_t at = 0; at < ids.size(); ++at)
    rows.visit({leading, ids[at], ids[at]}, [&](const VisitedRow& row) { visit(at, row); });
}

/// Positions of a sequence, ordered by what get gives for each.
template <class Sequence, class Get>
std::vector<std::size_t> order_by(const Sequence& sequence, Get get) {
  std::vector<std::size_t> order(sequence.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::is_sorted(sequence.begin(), sequence.end(), [&](const auto& a, const auto& b) { return get(a) < get(b); }))
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return get(sequence[a]) < get(sequence[b]); });
  return order;
}

}  // namespace ablate::db
