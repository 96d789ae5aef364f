#include "db/questions/attempts/list_experiments.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/history/names.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Fills in the counts. A trial is done if any attempt at it is done.
void count_trials(SQLite::Database& database, std::int64_t id, ExperimentLine& line) {
  Statement ask(database,
                "SELECT listed, EXISTS (SELECT 1 FROM attempt WHERE trial = m.trial AND outcome = 'done') AS done, EXISTS "
                "(SELECT 1 FROM attempt WHERE trial = m.trial) AS run, count(*) FROM experiment_trial m WHERE experiment = ? "
                "GROUP BY 1, 2, 3");
  ask.bind(1, id);
  while (ask.executeStep()) {
    const auto count = ask.getColumn(3).getInt64();
    if (ask.getColumn(0).getInt() == 0) {
      line.earlier += count;
      continue;
    }
    line.trials += count;
    (ask.getColumn(1).getInt() != 0 ? line.done : ask.getColumn(2).getInt() != 0 ? line.failed : line.missing) += count;
  }
  Statement latest(database,
                   "SELECT coalesce(max(a.started_us), 0) FROM experiment_trial m JOIN attempt a ON a.trial = m.trial WHERE "
                   "m.experiment = ?");
  latest.bind(1, id);
  latest.executeStep();
  line.latest_us = latest.getColumn(0).getInt64();
}

void fill(SQLite::Database& database, std::int64_t id, ExperimentLine& line) {
  Statement ask(database, "SELECT name, description, file FROM experiment WHERE id = ?");
  ask.bind(1, id);
  if (!ask.executeStep()) return;
  line.name = ask.getColumn(0).getString();
  line.description = ask.getColumn(1).getString();
  line.file = ask.getColumn(2).getString();
  line.tags = tags_of(database, id);
  count_trials(database, id, line);
}

}  // namespace

std::vector<ExperimentLine> list_experiments(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::vector<ExperimentLine> lines;
    Statement ids(reader.database(), "SELECT id FROM experiment ORDER BY id");
    while (ids.executeStep()) fill(reader.database(), ids.getColumn(0).getInt64(), lines.emplace_back());
    return lines;
  });
}

ExperimentDetails show_experiment(const Reader& reader, const std::string& name) {
  return guarded(reader.file(), [&] {
    ExperimentDetails all;
    const auto id = reader.experiment(name);
    fill(reader.database(), id, all);
    all.text = reader.study_text(name);
    Statement overrides(reader.database(), "SELECT overrides FROM experiment WHERE id = ?");
    overrides.bind(1, id);
    overrides.executeStep();
    const auto stored = stored_json(overrides.getColumn(0).getString());
    if (stored.is_array())
      all.overrides = stored;
    else
      reader.leave_out("experiment", id, "its overrides");
    Statement notes(reader.database(), "SELECT written_us, text FROM note WHERE experiment = ? ORDER BY id");
    notes.bind(1, id);
    while (notes.executeStep()) all.notes.push_back({notes.getColumn(0).getInt64(), notes.getColumn(1).getString()});
    return all;
  });
}

}  // namespace ablate::db
