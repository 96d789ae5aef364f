#include "db/history/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "core/util/nearest.h"
#include "db/history/place.h"
#include "db/history/schema.h"

namespace ablate::db {
namespace {

/// A WAL database needs a file beside it even to be read. Where none can be made, nobody can be writing either (the folder is
/// read-only), and SQLite may take the file as it is.
std::string location(const std::filesystem::path& file) {
  const auto absolute = std::filesystem::absolute(file);
  if (access(absolute.parent_path().c_str(), W_OK) == 0) return file.string();
  std::error_code none;
  if (std::filesystem::exists(absolute.string() + "-wal", none)) return file.string();
  std::string uri = "file:";
  for (const char c : absolute.string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

std::unique_ptr<SQLite::Database> open(const std::filesystem::path& file) {
  check_place(file);
  std::error_code none;
  if (!std::filesystem::exists(file, none))
    throw Error(
        fmt::format("no run history: looked for {}. `ablate run experiments/quickstart.toml` makes one; --db FILE or "
                    "ABLATE_DB points elsewhere.",
                    std::filesystem::absolute(file).lexically_normal().string()));
  return guarded(file, [&] {
    auto database =
        std::make_unique<SQLite::Database>(location(file), SQLite::OPEN_READONLY | SQLite::OPEN_URI, kUsualPatienceMs);
    check_schema(*database, file);
    database->exec("PRAGMA temp_store = MEMORY");
    database->exec("BEGIN");  // one snapshot for all that follows
    return database;
  });
}

}  // namespace

Reader::Reader(const std::filesystem::path& file) : file_(file), database_(open(file)) {}
Reader::~Reader() = default;

std::vector<std::string> Reader::experiments() const {
  return guarded(file_, [&] {
    std::vector<std::string> names;
    SQLite::Statement ask(*database_, "SELECT name FROM experiment ORDER BY id");
    while (ask.executeStep()) names.push_back(ask.getColumn(0).getString());
    return names;
  });
}

std::int64_t Reader::experiment(const std::string& name) const {
  return guarded(file_, [&] {
    SQLite::Statement ask(*database_, "SELECT id FROM experiment WHERE name = ?");
    ask.bind(1, name);
    if (ask.executeStep()) return ask.getColumn(0).getInt64();
    throw Error(fmt::format("{} has no experiment \"{}\"{}", file_.string(), name, hint(name, experiments())));
  });
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
    SQLite::Statement ask(*database_, "SELECT name, unit, direction, description, id FROM metric ORDER BY name");
    while (ask.executeStep()) {
      StoredMetric metric;
      metric.name = ask.getColumn(0).getString();
      metric.unit = ask.getColumn(1).getString();
      metric.direction = ask.getColumn(2).getString();
      metric.description = ask.getColumn(3).getString();
      metric.id = ask.getColumn(4).getInt64();
      all.push_back(std::move(metric));
    }
    return all;
  });
}

Reader::StoredMetric Reader::metric(const std::string& name) const {
  std::vector<std::string> names, leaves;
  for (const auto& metric : metrics()) {
    if (metric.name == name) return metric;
    names.push_back(metric.name);
    leaves.push_back(metric.name.substr(metric.name.rfind('/') + 1));
  }
  // "accuracy" is test/accuracy or dev/accuracy; the former first, as in main_metric. "adamra/kept" is attention/adamra/kept.
  std::vector<std::string> near;
  const auto leaf = name.find('/') == std::string::npos ? nearest(name, leaves) : std::string();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i].ends_with("/" + name) || (!leaf.empty() && leaves[i] == leaf)) near.push_back(names[i]);
  std::stable_partition(near.begin(), near.end(), [](const std::string& one) { return one.starts_with("test/"); });
  if (const auto one = nearest(name, names); near.empty() && !one.empty()) near.push_back(one);
  std::string remedy = "there are none yet";
  if (!near.empty())
    remedy = fmt::format("did you mean {}?", fmt::join(near, ", "));
  else if (!names.empty())
    remedy = fmt::format("known: {}", fmt::join(names, ", "));
  throw Error(fmt::format("{} has no metric \"{}\" ({})", file_.string(), name, remedy));
}

}  // namespace ablate::db
