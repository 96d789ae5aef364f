#include "tools/ablate/bench_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <set>
#include <sstream>

#include "core/host/study/diagnostics.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/nearest.h"

namespace ablate {
namespace {

const PluginInfo& find(const Catalog& catalog, Kind kind, const std::string& id) {
  if (const auto* found = catalog.find(kind, id)) return *found;
  if (const auto* refused = catalog.find_refused(id))
    throw Error(fmt::format("{} cannot be loaded: {}", refused->path.string(), refused->reason), ExitCode::kPlugin);
  if (kind == Kind::kAttention && catalog.find(Kind::kCompression, id) != nullptr)
    throw Error(
        fmt::format("{0} is a compression; an attention reads it: write ATTENTION+{0}, for example compressed+{0}", id));
  throw Error(fmt::format("no {} plugin \"{}\" was found{}; {}", to_text(kind), id, hint(id, catalog.ids(kind)),
                          catalog.where_looked(id)));
}

/// What an attention that takes a compression is measured with where none is named.
constexpr const char* kCompression = "segment-mean";

/// Where the section of a subject's compression is; only for an attention that takes one.
std::string compression_path(const Subject& subject) {
  return setting::in(section::kAttention, subject.attention->find_plugin(Kind::kCompression)->name);
}

/// Whether a subject's own plugins have the parameter at a path: "attention.heads".
bool has_parameter(const Subject& subject, const std::string& path) {
  const auto dot = path.rfind('.');
  const auto section = path.substr(0, dot), name = path.substr(dot + 1);
  if (section == section::kAttention) return subject.attention->find(name) != nullptr;
  return subject.compression != nullptr && section == compression_path(subject) && subject.compression->find(name) != nullptr;
}

/// [attention], with the compression of those that have none of their own.
std::string base(const std::vector<Subject>& subjects) {
  std::set<std::string> paths;
  for (const auto& subject : subjects)
    if (subject.compression == nullptr && subject.attention->find_plugin(Kind::kCompression) != nullptr)
      paths.insert(compression_path(subject));
  std::string text;
  for (const auto& path : paths) text += fmt::format("[{}]\nplugin = \"{}\"\n", path, kCompression);
  return text;
}

/// The grid's rows: a parameter varies in those that have it.
std::string rows(const std::vector<Subject>& subjects, const std::vector<Varied>& vary) {
  std::vector<std::string> all;
  for (const auto& subject : subjects) {
    std::vector<std::string> own = {fmt::format("attention.plugin = \"{}\"", subject.attention->id)};
    if (subject.compression != nullptr)
      own[0] += fmt::format(", {}.plugin = \"{}\"", compression_path(subject), subject.compression->id);
    for (const auto& [path, values] : vary) {
      if (!has_parameter(subject, path)) continue;
      std::vector<std::string> longer;
      for (const auto& row : own)
        for (const auto& value : values) longer.push_back(fmt::format("{}, {} = {}", row, path, value.dump()));
      own = std::move(longer);
    }
    all.insert(all.end(), own.begin(), own.end());
  }
  for (const auto& varied : vary) {
    const auto& path = varied.path;
    if (is_below(path, section::kAttention) &&
        std::none_of(subjects.begin(), subjects.end(), [&](const Subject& subject) { return has_parameter(subject, path); }))
      throw Error(fmt::format("none of the plugins has the parameter {}; `ablate plugins ID` lists those of one", path));
  }
  return fmt::format("  {{ {} }},\n", fmt::join(all, " },\n  { "));
}

/// Axes of the model's and the training's parameters.
std::string axes(const std::vector<Varied>& vary) {
  std::string text;
  for (const auto& [path, values] : vary)
    if (!is_below(path, section::kAttention)) text += fmt::format("{} = {}\n", path, values.dump());
  return text;
}

template <class Value>
void refuse_repeated(const char* option, const std::vector<Value>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), values[i]) !=
        values.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error(fmt::format("{}: {} stands there twice; leave one out", option, values[i]));
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + nlohmann::json(text).dump();
  return "[" + list + "]";
}

/// The path whose value, or which itself, stands at a column (from 1) of a line: "attention.heads" of
/// { attention.plugin = "x", attention.heads = 3 }.
std::string path_at(const std::string& line, std::size_t column) {
  const auto in_path = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  auto end = std::min(column == 0 ? 0 : column - 1, line.size());
  if (end < line.size() && in_path(line[end]) && std::isalpha(static_cast<unsigned char>(line[end])) != 0) {
    while (end < line.size() && in_path(line[end])) ++end;
  } else {
    end = line.rfind('=', end);
    if (end == std::string::npos) return "";
    while (end > 0 && !in_path(line[end - 1])) --end;
  }
  auto begin = end;
  while (begin > 0 && in_path(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

/// The option that a place of the composed text is from; "" where it is bench's own.
std::string option_at(const std::string& text, const Location& where, const BenchArguments& arguments) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < where.line; ++i) std::getline(lines, line);
  const auto path = path_at(line, static_cast<std::size_t>(std::max(where.column, 0)));
  if (path == setting::kAttentionHeads && !arguments.heads.empty()) return "--heads";
  if (path == setting::kBatch) return "--batch";
  if (path == setting::kDevice) return "--device";
  if (path == setting::kDtype) return "--dtype";
  if (path == setting::kTaskLength) return "--lengths";
  for (const auto& one : arguments.vary)
    if (one.starts_with(path + "=")) return "--vary " + path;
  const std::string row = "attention.plugin = \"";
  if (const auto at = line.find(row); at != std::string::npos) {
    const auto id = at + row.size();
    return "PLUGIN " + line.substr(id, line.find('"', id) - id);
  }
  return "";
}

}  // namespace

std::vector<Varied> varied(const BenchArguments& arguments) {
  std::vector<Varied> all;
  if (!arguments.heads.empty()) all.push_back({setting::kAttentionHeads, arguments.heads});
  for (const auto& text : arguments.vary) {
    const auto equals = text.find('=');
    const auto values =
        equals == std::string::npos ? nlohmann::json() : nlohmann::json::parse(text.substr(equals + 1), nullptr, false);
    if (!values.is_array() || values.empty())
      throw Error(
          fmt::format("--vary {}: expected PATH=[VALUE, ...], for example attention.window=[16, 32] or "
                      "attention.rates=[[\"1/2\"], [\"1/4\", \"1/8\"]]",
                      text));
    all.push_back({text.substr(0, equals), values});
  }
  return all;
}

namespace {

/// Whether it is made of a list of other attentions.
bool has_parts(const PluginInfo& info) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [](const auto& parameter) { return parameter.plugin_kind() == Kind::kAttention; });
}

}  // namespace

std::vector<Subject> subjects(const BenchArguments& arguments, const Catalog& catalog) {
  std::vector<Subject> all;
  auto names = arguments.plugins;
  if (names.empty()) {
    // All that random bytes can be given to as they are: not one of parts that only a study names, nor one that is causal
    // alone.
    for (const auto& id : catalog.ids(Kind::kAttention)) {
      const auto& info = find(catalog, Kind::kAttention, id);
      if (info.capabilities.bidirectional && !has_parts(info)) names.push_back(id);
    }
    // What the others are compared with.
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "softmax"; });
  }
  for (const auto& text : names) {
    const auto plus = text.find('+');
    Subject subject{&find(catalog, Kind::kAttention, text.substr(0, plus)), nullptr};
    if (plus != std::string::npos) {
      subject.compression = &find(catalog, Kind::kCompression, text.substr(plus + 1));
      if (subject.attention->find_plugin(Kind::kCompression) == nullptr)
        throw Error(fmt::format("{}: attention {} takes no compression", text, subject.attention->id));
    }
    all.push_back(subject);
  }
  if (all.empty()) throw Error("no attention plugin was found; `ablate plugins` lists the folders looked at");
  return all;
}

std::string compose(const BenchArguments& arguments, const std::vector<Subject>& subjects, const std::vector<Varied>& vary) {
  refuse_repeated("PLUGIN", arguments.plugins);
  refuse_repeated("--lengths", arguments.lengths);
  refuse_repeated("--batch", arguments.batch);
  refuse_repeated("--heads", arguments.heads);
  refuse_repeated("--device", arguments.devices);
  refuse_repeated("--dtype", arguments.dtypes);
  return fmt::format(R"(# Written by `ablate bench`.
[experiment]
name = {}
description = "Cost of attentions by sequence length: random bytes, nothing is learned."
[task]
plugin = "bytes"
{}[model]
dropout = 0.0
[train]
steps = 7
schedule = "constant"
evaluate_every = 7
evaluate_batches = 1
test_batches = 1
[grid]
rows = [
{}]
train.batch = [{}]
train.device = {}
train.dtype = {}
{}task.length = [{}]
)",
                     nlohmann::json(arguments.name).dump(), base(subjects), rows(subjects, vary),
                     fmt::join(arguments.batch, ", "), quoted(arguments.devices), quoted(arguments.dtypes), axes(vary),
                     fmt::join(arguments.lengths, ", "));
}

ConfigError in_options(const ConfigError& error, const std::string& text, const std::string& file,
                       const BenchArguments& arguments) {
  std::vector<Diagnostic> told;
  for (auto diagnostic : error.diagnostics()) {
    const auto name = [&](const Location& where) {
      const auto option = option_at(text, where, arguments);
      return option.empty() ? std::string("ablate bench") : option;
    };
    if (diagnostic.where.file == file) diagnostic.where = {name(diagnostic.where), 0, 0};
    // A message may speak of a second place: "this gives the same trial as FILE:15:12".
    auto& message = diagnostic.message;
    for (auto at = message.find(file + ":"); at != std::string::npos; at = message.find(file + ":")) {
      Location where{file, 0, 0};
      int used = 0;
      if (std::sscanf(message.c_str() + at + file.size(), ":%d:%d%n", &where.line, &where.column, &used) != 2) break;
      message.replace(at, file.size() + static_cast<std::size_t>(used), name(where));
    }
    const auto same = [&](const Diagnostic& other) {
      return other.where.file == diagnostic.where.file && other.message == message;
    };
    if (std::none_of(told.begin(), told.end(), same)) told.push_back(diagnostic);  // of several lines, one option
  }
  return ConfigError(std::move(told));
}

}  // namespace ablate
