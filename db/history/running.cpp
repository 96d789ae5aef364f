#include "db/history/running.h"

#include <tuple>

#include "db/history/process.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_running(SQLite::Database& database, const std::vector<RunningTrial>& trials) {
  const auto self = this_process();
  std::vector<Process> over = {self};
  Statement others(database, "SELECT DISTINCT process, started FROM running WHERE host = ?");
  others.bind(1, self.host);
  while (others.executeStep()) {
    const Process other{self.host, others.getColumn(0).getInt64(), others.getColumn(1).getInt64()};
    if (!lives(other)) over.push_back(other);
  }
  Statement forget(database, "DELETE FROM running WHERE host = ? AND process = ? AND started = ?");
  for (const auto& process : over) execute(forget, process.host, process.id, process.started);
  Statement put(database,
                "INSERT OR REPLACE INTO running (host, process, started, key, started_us, step, steps, loss) VALUES (?, ?, ?, "
                "?, ?, ?, ?, ?)");
  for (const auto& trial : trials)
    execute(put, self.host, self.id, self.started, trial.key, trial.started_us, trial.step, trial.steps, trial.loss);
}

std::vector<OtherRun> others_running(SQLite::Database& database, const std::set<std::string>& keys) {
  const auto self = this_process();
  std::vector<OtherRun> runs;
  Statement ask(database, "SELECT host, process, started, key FROM running ORDER BY host, process, started");
  while (ask.executeStep()) {
    const Process process{ask.getColumn(0).getString(), ask.getColumn(1).getInt64(), ask.getColumn(2).getInt64()};
    const bool is_here = process.host == self.host;
    if (!keys.contains(ask.getColumn(3).getString())) continue;
    if (is_here && (process.id == self.id || !lives(process))) continue;
    if (runs.empty() || std::tie(runs.back().host, runs.back().process) != std::tie(process.host, process.id))
      runs.push_back({process.host, process.id, is_here});
    ++runs.back().trials;
  }
  return runs;
}

}  // namespace ablate::db
