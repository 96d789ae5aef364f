#include <fmt/format.h>

#include "core/util/error.h"
#include "db/report/comparisons.h"
#include "db/report/reference_lines.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

constexpr const char* kOption = "--contrasts";

void add_contrasts(const std::vector<std::string>& values, Table& table) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    const std::pair pair(row_named(kOption, values[i], table), row_named(kOption, values[i + 1], table));
    if (pair.first == pair.second)
      throw Error(fmt::format("{} '{}' '{}': found one row twice, expected two", kOption, values[i], values[i + 1]));
    for (const auto& [first, second] : pairs)
      if (std::pair(first, second) == pair || std::pair(second, first) == pair)
        throw Error(fmt::format("{} '{}' '{}': found this pair twice, expected each once", kOption, values[i], values[i + 1]));
    pairs.push_back(pair);
  }
  std::vector<std::pair<std::size_t, std::size_t>> cells;  // cells of each contrast
  for (const auto& [first, second] : pairs)
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        if (!is_tested(table.metrics[m]) || table.cell(first, m, c).n == 0 || table.cell(second, m, c).n == 0) continue;
        table.pairs.push_back({table.rows[first],
                               table.rows[second],
                               table.row_values[first],
                               table.row_values[second],
                               m,
                               c,
                               {.name = "contrasts", .value = Comparison()}});
        cells.emplace_back(table.index_of(first, m, c), table.index_of(second, m, c));
      }
  Comparisons comparisons(table);
  for (std::size_t i = 0; i < cells.size(); ++i)
    comparisons.compare(cells[i].first, cells[i].second, std::get<Comparison>(table.pairs[i].fact.value));
  comparisons.decide();
  for (auto& pair : table.pairs) pair.fact.mark = significance_mark(pair.difference().significance);
  table.comparisons = static_cast<int>(comparisons.count());
  comparisons.note("contrasts: * the first is better, - worse than the second");
  if (table.pairs.empty()) table.notes.emplace_back("contrasts: no pair has numbers of both rows for a tested metric");
}

}  // namespace

const Statistic statistics::contrasts{"contrasts",
                                      "ROW ROW",
                                      true,
                                      "the first row minus the second, 'attention=adamra attention.rates=1/2' "
                                      "'attention=softmax', with 95 % interval and exact p; only these pairs are tested. "
                                      "Repeat it for more pairs",
                                      "against",
                                      nullptr,
                                      add_contrasts,
                                      2};

}  // namespace ablate::db
