// ablate bench: cost of attentions by sequence length. It composes a study from a few options, and runs the study.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/host/client/start_worker.h"
#include "core/host/study/diagnostics.h"
#include "core/host/study/study.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/regular_file.h"
#include "core/util/sha256.h"
#include "db/questions/tables/make_table.h"
#include "db/report/printers.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  std::vector<std::string> plugins;  ///< ATTENTION or ATTENTION+COMPRESSION; empty: see subjects()
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192, 16384}, batch = {1}, heads;
  std::vector<std::string> devices = {"cpu"}, dtypes = {"float32"}, vary, overrides;
  std::string name = "bench";
  bool again = false, dry_run = false;
};

/// "attention.window=[16, 32]": a parameter and its values, in the syntax that TOML and JSON share.
struct Varied {
  std::string path;
  nlohmann::json values;
};

/// One row of the table.
struct Subject {
  const PluginInfo* attention;
  const PluginInfo* compression;  ///< nullptr: segment-mean, if the attention has a compression
};

const PluginInfo& find(const Catalog& catalog, Kind kind, const std::string& id) {
  if (const auto* found = catalog.find(kind, id)) return *found;
  if (const auto* refused = catalog.find_refused(id))
    throw Error(fmt::format("{} cannot be loaded: {}", refused->path.string(), refused->reason), ExitCode::kPlugin);
  if (kind == Kind::kAttention && catalog.find(Kind::kCompression, id) != nullptr)
    throw Error(
        fmt::format("{0} is a compression; an attention reads it: write ATTENTION+{0}, for example compressed+{0}", id));
  for (const auto& other : catalog.plugins)
    if (other.id == id)
      throw Error(fmt::format("{} is a plugin of the kind {}, expected the kind {} (known: {})", id, to_text(other.kind),
                              to_text(kind), fmt::join(catalog.ids(kind), ", ")));
  throw Error(fmt::format("no {} plugin \"{}\" was found{}; {}", to_text(kind), id, hint(id, catalog.ids(kind)),
                          catalog.where_looked(id)));
}

/// Compression for an attention that needs a compression, if the user names none.
constexpr const char* kCompression = "segment-mean";

/// Returns the path of a subject's compression section; only for an attention that has a compression.
std::string compression_path(const Subject& subject) {
  return setting::in(section::kAttention, subject.attention->find_plugin(Kind::kCompression)->name);
}

/// True if a subject's own plugins have the parameter at a path such as "attention.heads".
bool has_parameter(const Subject& subject, const std::string& path) {
  const auto dot = path.rfind('.');
  const auto section = path.substr(0, dot), name = path.substr(dot + 1);
  if (section == section::kAttention) return subject.attention->find(name) != nullptr;
  return subject.compression != nullptr && section == compression_path(subject) && subject.compression->find(name) != nullptr;
}

/// Returns the sections that give kCompression to the subjects for which the user names no compression.
std::string base(const std::vector<Subject>& subjects) {
  std::set<std::string> paths;
  for (const auto& subject : subjects)
    if (subject.compression == nullptr && subject.attention->find_plugin(Kind::kCompression) != nullptr)
      paths.insert(compression_path(subject));
  std::string text;
  for (const auto& path : paths) text += fmt::format("[{}]\nplugin = \"{}\"\n", path, kCompression);
  return text;
}

/// Returns the grid's rows. A parameter varies only in the rows whose plugins have it.
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
      throw Error(fmt::format("none of the plugins has the parameter {}; `ablate plugins ID` lists its parameters", path));
  }
  return fmt::format("  {{ {} }},\n", fmt::join(all, " },\n  { "));
}

/// Returns the axes of the model's and the training's parameters.
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
      throw Error(fmt::format("{}: found {} twice, expected each value once", option, values[i]));
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + nlohmann::json(text).dump();
  return "[" + list + "]";
}

/// Returns the path at a column (from 1) of a line, or the path whose value is at the column. In
/// { attention.plugin = ID, attention.heads = 3 } the path at the column of 3 is attention.heads.
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

/// Returns the option that the text at a location comes from; "" if bench itself wrote that text.
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

/// Returns the axes of --heads and --vary. Throws Error if a value is not a list.
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

/// True if the attention consists of a list of other attentions.
bool has_parts(const PluginInfo& info) {
  return std::any_of(info.parameters.begin(), info.parameters.end(),
                     [](const auto& parameter) { return parameter.plugin_kind() == Kind::kAttention; });
}

/// Returns the named plugins, else all bidirectional attentions without parts. Throws Error with the nearest name.
std::vector<Subject> subjects(const BenchArguments& arguments, const Catalog& catalog) {
  std::vector<Subject> all;
  auto names = arguments.plugins;
  if (names.empty()) {
    // The task "bytes" is not causal, so attentions that are only causal are left out. Attentions made of parts need a study.
    for (const auto& id : catalog.ids(Kind::kAttention)) {
      const auto& info = find(catalog, Kind::kAttention, id);
      if (info.capabilities.bidirectional && !has_parts(info)) names.push_back(id);
    }
    // softmax comes first, as the reference of all others.
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
  if (all.empty()) throw Error("no attention plugin was found; `ablate plugins` lists the searched folders");
  return all;
}

/// Returns the text of a study that measures the median time of seven steps, with as little evaluation as possible. Throws
/// Error for a parameter that no subject has, and for a repeated value.
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

/// In errors, replaces lines of a composed study by the options that they come from, because the user never wrote these lines.
/// @param file where the text is stored
ConfigError in_options(const ConfigError& error, const std::string& text, const std::string& file,
                       const BenchArguments& arguments) {
  std::vector<Diagnostic> diagnostics;
  for (auto diagnostic : error.diagnostics()) {
    const auto name = [&](const Location& where) {
      const auto option = option_at(text, where, arguments);
      return option.empty() ? std::string("ablate bench") : option;
    };
    if (diagnostic.where.file == file) diagnostic.where = {name(diagnostic.where), 0, 0};
    // A message may name a second place: "this gives the same trial as FILE:15:12".
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
    if (std::none_of(diagnostics.begin(), diagnostics.end(), same))
      diagnostics.push_back(diagnostic);  // one option may fill several lines
  }
  return ConfigError(std::move(diagnostics));
}

/// Throws Error if the user has no cache folder.
fs::path kept_studies() {
  const auto cache = cache_folder();
  if (cache.empty()) throw Error(fmt::format("no folder for the study of a bench: {}", kNoCache));
  return cache / "studies";
}

/// Throws Error if the name is invalid as a file or a word, or if another study has it: bench would replace that study's grid.
void check_name(const std::string& name, const fs::path& kept, const fs::path& database) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), in_name))
    throw Error(fmt::format("--name {}: expected letters, digits, '-', '_' and '.'", name));
  if (!fs::exists(database)) return;
  const db::Reader reader(database);
  const auto file = reader.study_file(name);
  if (file.empty() || fs::path(file).parent_path() == kept) return;
  throw Error(fmt::format("--name {}: this experiment belongs to {}; choose another name", name, file));
}

/// Stores the study under the hash of its text, so that the study of an earlier run stays unchanged.
fs::path keep(const std::string& name, const std::string& text) {
  const auto folder = kept_studies();
  auto file = folder / fmt::format("{}-{}.toml", name, sha256(text).substr(0, 12));
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(
        fmt::format("cannot make the folder {}: {}; XDG_CACHE_HOME can name another", folder.string(), failed.message()));
  if (failed = put_whole(file, text); failed) throw Error(fmt::format("cannot write {}: {}", file.string(), failed.message()));
  return file;
}

/// Returns the table request without a metric. The tables of all metrics share it.
db::TableRequest table_of(const BenchArguments& arguments, const std::vector<Subject>& subjects,
                          const std::vector<Varied>& vary) {
  db::TableRequest request{.experiments = {arguments.name}, .rows = {section::kAttention}, .columns = {setting::kTaskLength}};
  const bool compressed =
      std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.compression != nullptr; });
  if (compressed) request.rows.emplace_back(setting::kAttentionCompression);
  for (const auto& one : vary) request.rows.push_back(one.path);
  if (arguments.batch.size() > 1) request.rows.emplace_back(setting::kBatch);
  if (arguments.devices.size() > 1) request.rows.emplace_back(setting::kDevice);
  if (arguments.dtypes.size() > 1) request.rows.emplace_back(setting::kDtype);
  if (arguments.lengths.size() > 1) request.statistics["exponent"];
  return request;
}

std::vector<std::string> command_of(const db::TableRequest& request) {
  std::vector<std::string> words = {
      "table",  request.experiments.front(), "--rows",   fmt::format("{}", fmt::join(request.rows, ",")),
      "--cols", setting::kTaskLength,        "--metric", "train/step_time"};
  if (request.statistics.contains("exponent")) words.emplace_back("--exponent");
  return words;
}

std::string joined(const std::vector<std::string>& texts, const char* between) {
  return fmt::format("{}", fmt::join(texts, between));
}

/// Returns the rows and lengths with unreliable step times; "" if all are reliable.
std::string unsettled_text(const db::Table& table) {
  std::vector<std::string> all;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::vector<std::string> lengths;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      if (table.cell(row, 0, column).unsettled) lengths.push_back(joined(table.columns[column], " "));
    if (!lengths.empty()) all.push_back(fmt::format("{} at {}", joined(table.rows[row], " "), joined(lengths, ", ")));
  }
  if (all.empty()) return "";
  return fmt::format(
      "These times did not settle: {}. The machine was busy, or had not warmed up; the same command with --again "
      "measures all once more.\n",
      joined(all, "; "));
}

void print_tables(db::TableRequest request, const std::vector<Subject>& subjects, const Options& options) {
  const db::Reader reader(options.database_file());
  request.verdict_today = [&](const UsedPlugin& plugin) { return verdict_today(reader, plugin); };
  request.check_options = [&](const auto& libraries) { return plugin_options(options.plugins, libraries); };
  std::string unsettled;
  const auto show = [&](const std::string& metric) {
    request.metrics = {metric};
    const auto table = db::make_table(reader, request);
    print("{}\n", db::to_text(table, db::Format::kText));
    if (metric == "train/step_time" && !request.statistics.contains("baseline")) unsettled = unsettled_text(table);
  };
  for (const auto* metric : {"train/forward_time", "train/forward_backward_time", "train/step_time", "memory/peak_tensor"})
    show(metric);
  if (subjects.size() > 1) {
    const auto& first = subjects.front();
    auto& baseline = request.statistics["baseline"] = {"attention=" + first.attention->id};
    if (first.compression != nullptr) baseline.push_back("attention.compression=" + first.compression->id);
    request.statistics.erase("exponent");
    for (const auto* metric : {"train/step_time", "memory/peak_tensor"}) show(metric);
  }
  print("{}", unsettled);
}

int bench(const BenchArguments& arguments, const Options& options) {
  check_name(arguments.name, kept_studies(), options.database_file());
  const auto catalog = [&] {
    auto executors = local_workers();
    return usable(find_libraries(options, executors), options);
  }();
  const auto all = subjects(arguments, catalog);
  const auto vary = varied(arguments);
  const auto text = compose(arguments, all, vary);
  const auto file = keep(arguments.name, text);
  const auto request = table_of(arguments, all, vary);
  const auto code = [&] {
    try {
      // One at a time, because parallel trials would slow each other down.
      return run_study({.file = file.string(),
                        .overrides = arguments.overrides,
                        .at_a_time = 1,
                        .again = arguments.again,
                        .dry_run = arguments.dry_run,
                        .table = command_of(request)},
                       options);
    } catch (const ConfigError& error) {
      throw in_options(error, text, file.string(), arguments);
    }
  }();
  if (!arguments.dry_run && code != static_cast<int>(ExitCode::kInterrupted)) print_tables(request, all, options);
  return code;
}

}  // namespace

void add_bench(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("bench", "Measure attentions: time, memory and how they grow with the sequence length")
                      ->group("Run ablations");
  auto arguments = std::make_shared<BenchArguments>();
  const CLI::Validator count(
      [](const std::string& text) {
        const bool ok =
            !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos && text[0] != '0';
        return ok ? std::string() : fmt::format("found {}, expected whole numbers above 0, separated by commas", text);
      },
      "");
  const auto list = [&](const char* name, auto& values, const char* help, const char* type) {
    return command->add_option(name, values, help)->delimiter(',')->type_name(type)->allow_extra_args(false);
  };
  command
      ->add_option("PLUGIN", arguments->plugins,
                   "attentions, or ATTENTION+COMPRESSION; the first is the reference of the others; default: all bidirectional "
                   "attentions that are not made of others, with softmax first")
      ->type_name("");
  list("--lengths", arguments->lengths, "tokens; default: 1024,2048,4096,8192,16384", "N,...")->check(count);
  list("--batch", arguments->batch, "examples a step; default: 1", "N,...")->check(count);
  list("--heads", arguments->heads, "numbers of heads, for attentions that have the parameter heads", "N,...")->check(count);
  list("--device", arguments->devices, "cpu, cuda, cuda:N or auto; default: cpu", "DEVICE,...");
  list("--dtype", arguments->dtypes, "float32, bfloat16, or mixed; default: float32", "TYPE,...");
  command
      ->add_option("--vary", arguments->vary,
                   "values of any other parameter, for attentions that have it: attention.window=[16, 32]; repeat it for more")
      ->type_name("PATH=[V,...]")
      ->allow_extra_args(false);
  command->add_option("--name", arguments->name, "the experiment's name in the run history; default: bench")->type_name("NAME");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: replaces any other value of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--again", arguments->again, "measure again, even if the run history has the numbers");
  command->add_flag("--dry-run", arguments->dry_run, "check everything and print the trials; nothing is run or recorded");
  command->footer(
      "Every point is a trial of seven steps on random bytes, stored in the run history. Stored points are not measured again "
      "without --again. --set seeds=3 measures each point three times.\n"
      "Example:\n  ablate bench softmax linear compressed+clustering --lengths 1024,4096 --batch 8 --set train.threads=2");
  command->callback([=, &options, &exit_code] { exit_code = bench(*arguments, options); });
}

}  // namespace ablate
