#include "db/questions/effects.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/records/data_settings.h"
#include "core/util/error.h"
#include "db/questions/make_table.h"
#include "db/report/effects.h"

namespace ablate::db {

std::vector<Effects> effects(const Reader& reader, const EffectsRequest& request) {
  TableRequest settings{.experiments = request.experiments, .metrics = request.metrics, .where = request.where};
  const auto usual = make_table(reader, settings);
  settings.rows = usual.row_paths;  // all named: no column of its own for the task
  settings.rows.insert(settings.rows.end(), usual.column_paths.begin(), usual.column_paths.end());
  std::erase_if(settings.rows, is_data_seed);
  if (settings.rows.empty())
    throw Error(fmt::format("found no parameter that varies{}, expected at least one beside the seed{}",
                            request.experiments.empty() ? "" : fmt::format(" in {}", fmt::join(request.experiments, ", ")),
                            usual.tuned_paths.empty() ? "" : "; `ablate windows` shows what dev chooses"));
  auto table = make_table(reader, settings);
  return effects_of(table, request.reference);
}

}  // namespace ablate::db
