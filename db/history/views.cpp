#include "db/history/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "db/history/sql.h"

namespace ablate::db {
namespace {

constexpr const char* kExperiments =
    "(SELECT group_concat(name) FROM (SELECT e.name FROM experiment_trial m JOIN experiment e ON e.id = m.experiment WHERE "
    "m.trial = t.id ORDER BY e.name))";
constexpr const char* kStarted = "strftime('%Y-%m-%d %H:%M:%S', a.started_us / 1000000, 'unixepoch')";

using Pairs = std::vector<std::pair<std::string, std::string>>;  ///< (column, expression)

/// Returns the columns of an attempt that all views of attempts share, with `before` and `behind` around them.
Pairs around(Pairs before, const Pairs& behind) {
  const Pairs attempt{
      {"trial", "t.id"},
      {"key", "t.key"},
      {"outcome", "a.outcome"},
      {"reason", "a.reason"},
      {"started", kStarted},
      {"wall_s", "a.wall_s"},
      {"cpu_s", "nullif(a.cpu_s, 0)"},
      {"peak_resident_mib", "nullif(a.peak_resident_bytes, 0) / 1048576.0"},
      {"step", "nullif(a.step, 0)"},
      {"steps", "nullif(a.steps, 0)"},
  };
  before.insert(before.end(), attempt.begin(), attempt.end());
  before.insert(before.end(), behind.begin(), behind.end());
  return before;
}

View make(std::string name, std::string about, const Pairs& columns, const std::string& from) {
  View view{std::move(name), std::move(about), {}, "SELECT "};
  for (const auto& [column, expression] : columns) {
    if (!view.columns.empty()) view.sql += ", ";
    view.sql += expression + " AS " + quoted(column);
    view.columns.push_back(column);
  }
  view.sql += " FROM " + from;
  return view;
}

/// Columns of parameters and metrics, after the fixed columns.
class Columns {
 public:
  explicit Columns(Pairs first) : all_(std::move(first)) {
    for (const auto& [name, unused] : all_) taken_.insert(lower(name));
  }
  /// Adds a column for each row of a table. If an earlier column has the same name, ignoring case, appends the kind. Adds
  /// lower-case names first, so that the host's own names, which have no capitals, stay unchanged.
  /// @param table has columns name and id
  /// @param expression returns SQL for an id
  void add(SQLite::Database& database, const char* table, const char* kind, std::string (*expression)(const std::string& id)) {
    SQLite::Statement names(database, fmt::format("SELECT name, id FROM {} ORDER BY name != lower(name), id", table));
    Pairs added;
    while (all_.size() + added.size() < kMostColumns && names.executeStep()) {
      auto name = names.getColumn(0).getString();
      if (name.find('\0') != std::string::npos) continue;  // SQL cannot contain this name
      while (!taken_.insert(lower(name)).second) name += fmt::format(" ({})", kind);
      added.emplace_back(name, expression(names.getColumn(1).getString()));
    }
    std::sort(added.begin(), added.end());
    all_.insert(all_.end(), added.begin(), added.end());
  }
  const Pairs& all() const { return all_; }

 private:
  static std::string lower(std::string name) {  // ASCII only, as SQLite does
    for (auto& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return name;
  }

  Pairs all_;
  std::set<std::string> taken_;
};

View trials(SQLite::Database& database) {
  Columns columns(around({{"attempt", "a.id"}, {"experiments", kExperiments}}, {}));
  // One subquery per column: SQLite drops the columns that a query does not use, and finds the other columns by index.
  columns.add(database, "path", "parameter", [](const std::string& id) {
    return fmt::format("(SELECT CASE v.type WHEN 'text' THEN v.text ELSE v.number END FROM value v WHERE v.id = {})",
                       value_at(id));
  });
  columns.add(database, "metric", "metric", [](const std::string& id) {
    return fmt::format("(SELECT value FROM result WHERE metric = {} AND attempt = a.id)", id);
  });
  return make("trials",
              "one row per trial that has run: its latest done attempt, or its latest attempt if none is done; one column per "
              "parameter and metric",
              columns.all(),
              fmt::format("trial t JOIN attempt a ON a.id = coalesce((SELECT id FROM attempt WHERE trial = t.id AND outcome = "
                          "'done' ORDER BY {0} LIMIT 1), (SELECT id FROM attempt WHERE trial = t.id ORDER BY {0} LIMIT 1))",
                          kLatestFirst));
}

}  // namespace

std::string quoted(const std::string& identifier) {
  std::string text = "\"";
  for (const char c : identifier) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::vector<View> views(SQLite::Database& database) {
  std::vector<View> all;
  all.push_back(trials(database));
  all.push_back(make("attempts", "one row per attempt at a trial, however it ended",
                     around({{"attempt", "a.id"}}, {{"signal", "a.signal"},
                                                    {"exit_code", "a.exit_code"},
                                                    {"output", "a.output"},
                                                    {"environment", "e.json"},
                                                    {"uid", "lower(hex(a.uid))"}}),
                     "attempt a JOIN trial t ON t.id = a.trial JOIN environment e ON e.id = a.environment"));
  all.push_back(make("curves", "one row per recorded step value of an attempt",
                     {{"experiment", kExperiments},
                      {"key", "t.key"},
                      {"attempt", "c.attempt"},
                      {"metric", "m.name"},
                      {"step", "c.step"},
                      {"value", "c.value"}},
                     "curve c JOIN metric m ON m.id = c.metric JOIN attempt a ON a.id = c.attempt JOIN trial t ON t.id = "
                     "a.trial"));
  all.push_back(make("parameters", "one row per parameter of a trial; number: set for numbers, booleans and single rates",
                     {{"trial", "t.id"}, {"key", "t.key"}, {"path", "n.name"}, {"text", "v.text"}, {"number", "v.number"}},
                     "trial t JOIN path n JOIN value v ON v.id = " + value_at("n.id")));
  all.push_back(make("metrics", "one row per final value of an attempt",
                     {{"attempt", "r.attempt"},
                      {"key", "t.key"},
                      {"metric", "m.name"},
                      {"value", "r.value"},
                      {"unit", "m.unit"},
                      {"direction", "m.direction"},
                      {"description", "m.description"}},
                     "result r JOIN metric m ON m.id = r.metric JOIN attempt a ON a.id = r.attempt JOIN trial t ON t.id = "
                     "a.trial"));
  all.push_back(
      make("plugins", "one row per plugin of an attempt, with the verdict of `ablate check` when the attempt started",
           {{"attempt", "a.id"},
            {"key", "t.key"},
            {"kind", "p.kind"},
            {"plugin", "p.name"},
            {"version", "p.version"},
            {"code_identity", "p.code_identity"},
            {"content_hash", "p.content_hash"},
            {"path", "p.path"},
            {"verdict", "u.verdict"},
            {"failed_checks", "u.failed_checks"},
            {"place", "u.place"},
            {"length", "nullif(u.length, 0)"},
            {"checked_length", "nullif(u.checked_length, 0)"}},
           "attempt a JOIN plugin_of_set u ON u.plugin_set = a.plugin_set JOIN plugin p ON p.id = u.plugin JOIN trial "
           "t ON t.id = a.trial"));
  all.push_back(make("verdicts", "one row per checked code of a plugin, with the latest verdict of `ablate check`",
                     {{"kind", "v.kind"},
                      {"plugin", "v.plugin"},
                      {"code_identity", "v.code_identity"},
                      {"suite", "v.suite"},
                      {"checked", "strftime('%Y-%m-%d %H:%M:%S', v.checked_s, 'unixepoch')"},
                      {"verdict", "v.verdict"},
                      {"failed_checks", "v.failed_checks"},
                      {"lengths",
                       "(SELECT group_concat(place || ': ' || length, ', ') FROM checked_length c WHERE (c.kind, c.plugin, "
                       "c.code_identity, c.suite) = (v.kind, v.plugin, v.code_identity, v.suite))"}},
                     "verdict v"));
  all.push_back(make("audits", "one row per set of data of a task, with the latest findings of `ablate audit`",
                     {{"digest", "u.digest"},
                      {"task", "u.task"},
                      {"parameters", "u.parameters"},
                      {"suite", "u.suite"},
                      {"audited", "strftime('%Y-%m-%d %H:%M:%S', u.audited_s, 'unixepoch')"},
                      {"verdict", "u.verdict"},
                      {"findings", "u.findings"}},
                     "audit u"));
  all.push_back(make("floors",
                     "one row per training and test set of a task: scores of simple predictors, found by `ablate audit`",
                     {{"digest", "f.digest"},
                      {"task", "f.task"},
                      {"test_rows", "f.test_rows"},
                      {"train_rows", "f.train_rows"},
                      {"train_lanes", "f.train_lanes"},
                      {"version", "f.version"},
                      {"found", "strftime('%Y-%m-%d %H:%M:%S', f.found_s, 'unixepoch')"},
                      {"metric", "f.metric"},
                      {"examples", "f.examples"},
                      {"train_size", "f.train_size"},
                      {"seen", "f.seen"},
                      {"floors", "f.floors"},
                      {"left_out", "f.left_out"}},
                     "floor f"));
  all.push_back(make("experiments", "one row per experiment",
                     {{"experiment", "e.name"},
                      {"description", "e.description"},
                      {"file", "e.file"},
                      {"overrides", "e.overrides"},
                      {"trials", "(SELECT count(*) FROM experiment_trial m WHERE m.experiment = e.id)"},
                      {"tags", "coalesce((SELECT group_concat(tag) FROM tag g WHERE g.experiment = e.id), '')"}},
                     "experiment e"));
  all.push_back(make("tags", "one row per tag of an experiment", {{"experiment", "e.name"}, {"tag", "g.tag"}},
                     "tag g JOIN experiment e ON e.id = g.experiment"));
  all.push_back(make("notes", "one row per note on an experiment",
                     {{"experiment", "e.name"},
                      {"written", "strftime('%Y-%m-%d %H:%M:%S', n.written_us / 1000000, 'unixepoch')"},
                      {"note", "n.text"}},
                     "note n JOIN experiment e ON e.id = n.experiment"));
  all.push_back(
      make("members",
           "the trials of an experiment, in grid order; listed: 1 if its latest grid has the trial; role: reported, tuning or "
           "longer; cell: trials with the same number differ only in tuned values and seeds",
           {{"experiment", "e.name"},
            {"trial", "m.trial"},
            {"position", "m.position"},
            {"listed", "m.listed"},
            {"role", "m.role"},
            {"cell", "m.cell"}},
           "experiment_trial m JOIN experiment e ON e.id = m.experiment"));
  all.push_back(make("published", "values that papers report for an experiment's trials, from its study",
                     {{"experiment", "e.name"},
                      {"trial", "p.trial"},
                      {"key", "t.key"},
                      {"metric", "p.metric"},
                      {"value", "p.value"},
                      {"source", "p.source"}},
                     "published_value p JOIN experiment e ON e.id = p.experiment JOIN trial t ON t.id = p.trial"));
  all.push_back(make("proofs", "proofs by `ablate run --prove`",
                     {{"proof", "p.id"},
                      {"proven", "strftime('%Y-%m-%d %H:%M:%S', p.proven_us / 1000000, 'unixepoch')"},
                      {"plugins",
                       "coalesce((SELECT group_concat(DISTINCT name) FROM plugin WHERE code_identity IN (SELECT value FROM "
                       "json_each(p.before, '$.plugins'))), '')"},
                      {"before", "p.before"},
                      {"now", "p.now"},
                      {"attempts", "(SELECT group_concat(attempt) FROM proof_attempt WHERE proof = p.id)"},
                      {"trials", "(SELECT count(*) FROM alias WHERE proof = p.id)"},
                      {"environment", "e.json"}},
                     "proof p JOIN environment e ON e.id = p.environment"));
  return all;
}

void write_views(SQLite::Database& database) {
  for (const auto& view : views(database)) {
    database.exec("DROP VIEW IF EXISTS main." + quoted(view.name));
    database.exec(fmt::format("CREATE VIEW main.{} AS {}", quoted(view.name), view.sql));
  }
}

std::pair<std::int64_t, std::int64_t> views_state(PreparedStatements& statements) {
  auto ask = statements("SELECT (SELECT coalesce(max(id), 0) FROM path), (SELECT coalesce(max(id), 0) FROM metric)");
  ask->executeStep();  // names are never deleted and never change
  return {ask->getColumn(0).getInt64(), ask->getColumn(1).getInt64()};
}

}  // namespace ablate::db
