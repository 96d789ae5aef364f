#include "db/history/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>

#include "db/history/known_verdicts.h"
#include "db/history/location.h"
#include "db/history/names.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/stored_metric.h"
#include "db/types/metric_name.h"

namespace ablate::db {
namespace {

constexpr int kStride = 10'000;  ///< steps of SQLite's virtual machine between two counts

/// Returns more strides than any query needs for a file of this size. Damaged pages that refer to one another in a cycle hold
/// endless rows (tests/db/crafted_test.cpp: 256^8 rows in 200 KB). SQLite does not detect the cycle: each page alone is sound.
std::int64_t most_strides(const std::filesystem::path& file) {
  constexpr std::int64_t kLeast = 20'000'000, kEachByte = 20;
  std::int64_t bytes = 0;
  for (const auto* end : {"", "-wal"}) {
    std::error_code none;
    if (const auto size = std::filesystem::file_size(file.string() + end, none); !none)
      bytes += static_cast<std::int64_t>(size);
  }
  return (kLeast + kEachByte * bytes) / kStride;
}

int count_stride(void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; }

const int kForOneThread = SQLite::OPEN_READONLY | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX;  ///< a Reader belongs to one thread

std::unique_ptr<SQLite::Database> open(const std::filesystem::path& file, std::int64_t& strides_left) {
  check_location(file);
  std::error_code none;
  if (!std::filesystem::exists(file, none))
    throw Error(
        fmt::format("no run history: looked for {}. `ablate run STUDY.toml` makes one; --db FILE or "
                    "ABLATE_DB points elsewhere.",
                    std::filesystem::absolute(file).lexically_normal().string()));
  return guarded(file, [&] {
    auto database = std::make_unique<SQLite::Database>(reading_location(file), kForOneThread, kUsualPatienceMs);
    trust_nothing(*database);
    strides_left = most_strides(file);
    sqlite3_progress_handler(database->getHandle(), kStride, count_stride, &strides_left);
    check_schema(*database, file);
    database->exec("PRAGMA temp_store = MEMORY");
    database->exec("BEGIN");  // one snapshot for all queries
    return database;
  });
}

}  // namespace

Reader::Reader(const std::filesystem::path& file)
    : file_(file), beside_(file), strides_left_(std::make_unique<std::int64_t>()), database_(open(file, *strides_left_)) {}
Reader::~Reader() = default;

void Reader::read_without_limit() const { sqlite3_progress_handler(database_->getHandle(), 0, nullptr, nullptr); }

std::vector<std::string> Reader::experiments() const {
  return guarded(file_, [&] { return experiment_names(*database_); });
}

std::int64_t Reader::experiment(const std::string& name) const {
  return guarded(file_, [&] { return expect_experiment(*database_, file_, name); });
}

std::string Reader::study_file(const std::string& experiment) const { return of_study("file", experiment); }
std::string Reader::study_text(const std::string& experiment) const { return of_study("text", experiment); }

std::vector<std::string> Reader::study_overrides(const std::string& experiment) const {
  std::vector<std::string> all;
  const auto stored = stored_json(of_study("overrides", experiment));
  for (const auto& one : stored.is_array() ? stored : nlohmann::json::array())
    if (one.is_string()) all.push_back(one.get<std::string>());
  return all;
}

std::string Reader::of_study(const char* column, const std::string& experiment) const {
  return guarded(file_, [&] {
    SQLite::Statement ask(*database_, fmt::format("SELECT {} FROM experiment WHERE name = ?", column));
    ask.bind(1, experiment);
    return ask.executeStep() ? ask.getColumn(0).getString() : std::string();
  });
}

bool Reader::has_run(const UsedPlugin& plugin) const {
  return guarded(file_, [&] {
    SQLite::Statement ask(*database_, "SELECT 1 FROM plugin WHERE (kind, name, code_identity) = (?, ?, ?)");
    SQLite::bind(ask, plugin.kind, plugin.id, plugin.code_identity);
    return ask.executeStep();
  });
}

std::optional<KnownVerdict> Reader::verdict(const UsedPlugin& plugin) const {
  return guarded(file_, [&] { return find_verdict(*database_, plugin); });
}

std::map<std::string, std::int64_t> Reader::paths() const {
  return guarded(file_, [&] {
    std::map<std::string, std::int64_t> ids;
    SQLite::Statement ask(*database_, "SELECT name, id FROM path");
    while (ask.executeStep()) ids[ask.getColumn(0).getString()] = ask.getColumn(1).getInt64();
    return ids;
  });
}

std::vector<Reader::StoredMetric> Reader::metrics() const {
  return guarded(file_, [&] {
    std::vector<StoredMetric> all;
    SQLite::Statement ask(*database_, fmt::format("SELECT {}, m.id FROM metric m ORDER BY m.name", kMetricColumns));
    while (ask.executeStep()) all.push_back({metric_from(ask), ask.getColumn(7).getInt64()});
    return all;
  });
}

std::vector<Reader::StoredMetric> Reader::metrics_named(const std::string& name) const {
  const auto all = metrics();
  std::vector<std::string> names, whole;
  for (const auto& metric : all) {
    if (metric.name == name) return {metric};
    names.push_back(metric.name);
    if (!is_of_group(metric.name)) whole.push_back(metric.name);
  }
  if (const auto groups = groups_of(names, name); !groups.empty()) {
    std::vector<StoredMetric> found;
    for (const auto& group : groups)
      found.push_back(*std::find_if(all.begin(), all.end(), [&](const auto& metric) { return metric.name == group; }));
    return found;
  }
  std::string remedy = "there are none yet";
  if (const auto near = near_metrics(names, name); !near.empty())
    remedy = fmt::format("did you mean {}?", fmt::join(near, ", "));
  else if (!names.empty())
    remedy = fmt::format("known: {}", fmt::join(whole, ", "));
  throw Error(fmt::format("{} has no metric \"{}\" ({})", file_.string(), name, remedy));
}

void Reader::leave_out(const std::string& kind, std::int64_t number, const std::string& what) const {
  left_out_[{kind, what}].insert(number);
}

std::vector<std::string> Reader::left_out() const {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> lines;
  for (const auto& [about, numbers] : left_out_) {
    std::vector<std::int64_t> shown(numbers.begin(), numbers.end());
    const auto more = shown.size() > kMost ? fmt::format(" and {} more", shown.size() - kMost) : "";
    shown.resize(std::min(shown.size(), kMost));
    const bool one = numbers.size() == 1;
    lines.push_back(fmt::format("{}{} {}{} {} left out: {} cannot be read in {} (found no JSON as ablate writes it)",
                                about.first, one ? "" : "s", fmt::join(shown, ", "), more, one ? "is" : "are", about.second,
                                file_.string()));
  }
  return lines;
}

}  // namespace ablate::db
