#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "core/util/whole_text.h"
#include "db/history/imports.h"
#include "db/history/reader.h"
#include "db/history/store.h"
#include "tools/ablate/keeping/imported_file.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 28;

std::string content_of(const fs::path& path) {
  RegularFile file(path);
  constexpr std::string_view kHistory = "SQLite format 3";
  std::string head(kHistory.size(), ' ');
  head.resize(file.read(head.data(), head.size()));
  if (head == kHistory)
    throw Error(
        fmt::format("{0}: found a run history, expected CSV or JSON lines; `ablate merge {0}` takes it", path_text(path)));
  if (file.size() > kMostBytes)
    throw Error(fmt::format("{}: found {} MiB, expected at most {}; import it in parts", path_text(path), file.size() >> 20,
                            kMostBytes >> 20));
  return head + whole_text(file);
}

std::vector<MetricInfo> metrics_of(const fs::path& history) {
  std::vector<MetricInfo> all;
  for (const auto& metric : db::Reader(history).metrics()) all.push_back(metric);
  return all;
}

std::vector<std::string> names_of(const db::ImportedFile& file) {
  std::vector<std::string> names;
  for (const auto& trial : file.trials)
    if (std::find(names.begin(), names.end(), trial.experiment) == names.end()) names.push_back(trial.experiment);
  return names;
}

/// How the file is understood.
void tell(const db::ImportedFile& file) {
  auto paths = file.paths;
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> metrics;
  for (const auto& metric : file.metrics)
    metrics.push_back(db::with_unit(metric) + (metric.direction.empty() ? "" : ", " + metric.direction + " is best"));
  ablate::print("parameters  {}\n", fmt::join(paths, ", "));
  for (const auto& metric : metrics) print("metric      {}\n", metric);
}

int import(const fs::path& history, const fs::path& path, const std::string& experiment, bool dry_run) {
  const auto text = content_of(path);
  const bool exists = fs::exists(history);
  std::optional<db::Store> store;
  if (exists && !dry_run) store.emplace(history);  // an earlier schema is brought up to date
  const auto file = read_imported(text, path_text(path), experiment, exists ? metrics_of(history) : std::vector<MetricInfo>(),
                                  exists ? db::stored_values(db::Reader(history)) : db::ParameterValues());
  if (!store && !dry_run) store.emplace(history);
  db::Imported counts;
  if (store)
    counts = store->import(file);
  else if (exists)
    counts = db::would_import(db::Reader(history), file);
  else
    counts.trials = static_cast<std::int64_t>(file.trials.size());
  if (dry_run) tell(file);
  ablate::print("{}: {} of {} {}, {} there already\n", file.name, counted(counts.trials, "trial"),
                fmt::join(names_of(file), ", "), dry_run ? "would come" : "came",
                counts.known == 1 ? "1 was" : fmt::format("{} were", counts.known));
  for (const auto& note : file.notes) say("note: {}: {}\n", file.name, note);
  if (counts.ran_here > 0)
    say("note: {} left out: {} here\n", counts.ran_here == 1 ? "1 trial is" : fmt::format("{} trials are", counts.ran_here),
        counts.ran_here == 1 ? "it ran" : "they ran");
  return 0;
}

}  // namespace

void add_import(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string file, experiment;
    bool dry_run = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("import", "Take trials that ran elsewhere from a CSV file into the run history");
  command->group(kKeeping);
  command
      ->add_option("FILE", arguments->file,
                   "CSV with a header, or JSON lines, as `ablate export` writes them: columns experiment, outcome, reason, "
                   "started, wall_s, main_metric, grid.tuned, grid.tunes, environment.NAME; metrics have a slash (of those "
                   "that ablate does not know "
                   "with unit and better end behind: test/bleu[% max]), all others are parameters, seed among them")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command->add_option("--experiment", arguments->experiment, "the experiment of all its trials, in place of the file's column")
      ->check(not_empty())
      ->type_name("NAME");
  command->add_flag("--dry-run", arguments->dry_run, "tell how the file is understood, and write nothing");
  command->footer(
      "They count in tables, with a note, and never as done: `ablate run` runs the same trials. A second import of the same "
      "file changes nothing.\nExample:\n  ablate import cluster.csv --experiment quickstart-cluster");
  command->callback([arguments, database, &exit_code] {
    exit_code = import(database(), arguments->file, arguments->experiment, arguments->dry_run);
  });
}

}  // namespace ablate
