#include "db/questions/exports/export_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "db/history/artifacts.h"
#include "db/history/schema.h"
#include "db/history/sql.h"
#include "db/history/stored_json.h"
#include "db/questions/attempts/show_attempt.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

constexpr std::uint64_t kLongestHeader = 100'000'000;  ///< limit of the format, in bytes
constexpr std::size_t kLengthBytes = sizeof(std::uint64_t);
static_assert(std::endian::native == std::endian::little, "the header's length is little-endian");

/// Returns the latest attempt at a trial that has kept weights; 0 if there is none.
std::int64_t latest_with_weights(const Reader& reader, std::int64_t trial) {
  Statement ask(reader.database(),
                fmt::format("SELECT id FROM attempt WHERE trial = ? AND EXISTS (SELECT 1 FROM artifact f WHERE f.attempt = "
                            "attempt.id AND f.kind = 'weights' AND f.removed_us IS NULL) ORDER BY {} LIMIT 1",
                            kLatestFirst));
  return number_from(ask, trial);
}

std::filesystem::path file_of(const Reader& reader, std::int64_t attempt, const std::string& name) {
  for (const auto& one : artifacts_of(reader.database(), fmt::format("= {}", attempt)))
    if (one.kind == kWeights && one.is_ours()) return one.in(reader.file());
  throw Error(
      fmt::format("attempt {} has no kept weights: `keep_weights = true` in the study's [experiment] keeps the weights of "
                  "later attempts, and `ablate run STUDY --again` runs done trials once more",
                  name));
}

ordered_json metadata_of(const Reader& reader, std::int64_t attempt) {
  const auto ask = [&](const char* sql) {
    Statement statement(reader.database(), sql);
    statement.bind(1, attempt);
    return statement;
  };
  auto row =
      ask("SELECT lower(hex(a.uid)), t.key, r.json, e.json FROM attempt a JOIN trial t ON t.id = a.trial JOIN resolved r ON "
          "r.trial = t.id JOIN environment e ON e.id = a.environment WHERE a.id = ?");
  if (!row.executeStep()) throw Error(fmt::format("{}: attempt {} has no settings", reader.file().string(), attempt));
  auto names =
      ask("SELECT e.name FROM attempt a JOIN experiment_trial m ON m.trial = a.trial JOIN experiment e ON e.id = m.experiment "
          "WHERE a.id = ? ORDER BY e.name");
  std::string experiments;
  while (names.executeStep()) experiments += (experiments.empty() ? "" : ",") + names.getColumn(0).getString();
  auto plugins =
      ask("SELECT p.name, p.code_identity FROM attempt a JOIN plugin_of_set u ON u.plugin_set = a.plugin_set JOIN plugin p ON "
          "p.id = u.plugin WHERE a.id = ? ORDER BY p.name");
  auto code = ordered_json::object();
  while (plugins.executeStep()) code[plugins.getColumn(0).getString()] = plugins.getColumn(1).getString();
  const auto environment = stored_json<ordered_json>(row.getColumn(3).getString());
  const auto torch = environment.is_object() ? environment.value("torch", ordered_json()) : ordered_json();
  return {{"format", "pt"},
          {"attempt", std::to_string(attempt)},
          {"uid", row.getColumn(0).getString()},
          {"key", row.getColumn(1).getString()},
          {"experiments", experiments},
          {"settings", row.getColumn(2).getString()},
          {"code", code.dump(-1, ' ', true, ordered_json::error_handler_t::replace)},
          {"torch", torch.is_string() ? torch.get<std::string>() : ""}};
}

/// Reads `bytes` bytes, or fewer at the end of the file.
std::string read_some(RegularFile& from, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const auto n = from.read(text.data() + done, bytes - done);
    if (n == 0) break;
    done += n;
  }
  text.resize(done);
  return text;
}

}  // namespace

WeightsFile::WeightsFile(const Reader& reader, const std::string& name) {
  guarded(reader.file(), [&] {
    auto [attempt, trial, by_key] = find_attempt(reader, name);
    if (by_key)
      if (const auto other = latest_with_weights(reader, trial); other != 0) attempt = other;
    file_ = file_of(reader, attempt, name);
    RegularFile file(file_);
    const auto refuse = [&](const char* found) {
      throw Error(fmt::format("{}: found {}, expected a safetensors file", file_.string(), found));
    };
    std::uint64_t length = 0;
    const auto first = read_some(file, kLengthBytes);
    if (first.size() == kLengthBytes) std::memcpy(&length, first.data(), kLengthBytes);
    if (length == 0 || length > kLongestHeader || kLengthBytes + length > file.size()) refuse("no header");
    auto header = ordered_json::parse(read_some(file, length), nullptr, false);
    if (!header.is_object()) refuse("a header that is no JSON object");
    header.erase("__metadata__");
    ordered_json whole = {{"__metadata__", metadata_of(reader, attempt)}};
    whole.update(header);
    header_ = whole.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
    header_.append((kLengthBytes - header_.size() % kLengthBytes) % kLengthBytes, ' ');
    data_ = kLengthBytes + length;
  });
}

void WeightsFile::write(const Write& write) const {
  RegularFile file(file_);
  const std::uint64_t length = header_.size();
  write({reinterpret_cast<const char*>(&length), kLengthBytes});
  write(header_);
  read_some(file, data_);
  std::vector<char> piece(std::size_t{1} << 20);
  for (std::size_t n = 0; (n = file.read(piece.data(), piece.size())) > 0;) write({piece.data(), n});
}

}  // namespace ablate::db
