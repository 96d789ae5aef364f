// ablate bench: what attentions cost by sequence length. A study composed from a few options, run like any other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/sha256.h"
#include "db/history.h"
#include "db/table.h"
#include "tools/ablate/commands.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  std::vector<std::string> plugins;  ///< ATTENTION or ATTENTION+COMPRESSION; none: all attentions
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192, 16384}, batch = {1}, heads;
  std::vector<std::string> devices = {"cpu"}, dtypes = {"float32"}, vary, overrides;
  std::string name = "bench";
  bool again = false, dry_run = false;
};

/// "attention.window=[16, 32]": a parameter and the values it takes, as TOML and JSON both write them.
struct Varied {
  std::string path;
  nlohmann::json values;
};

std::vector<Varied> varied(const BenchArguments& arguments) {
  std::vector<Varied> all;
  if (!arguments.heads.empty()) all.push_back({"attention.heads", arguments.heads});
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

/// One line of the table.
struct Subject {
  const PluginInfo* attention;
  const PluginInfo* compression;  ///< nullptr: the study's
};

const PluginInfo& find(const Catalog& catalog, Kind kind, const std::string& id) {
  if (const auto* found = catalog.find(kind, id)) return *found;
  if (const auto* refused = catalog.find_refused(id))
    throw Error(fmt::format("{} cannot be loaded: {}", refused->path.string(), refused->reason), ExitCode::kPlugin);
  if (kind == Kind::kAttention && catalog.find(Kind::kCompression, id) != nullptr)
    throw Error(
        fmt::format("{0} is a compression; an attention reads it: write ATTENTION+{0}, for example compressed+{0}", id));
  throw Error(fmt::format("no {} plugin \"{}\" was found{}", to_text(kind), id, hint(id, catalog.ids(kind))));
}

std::vector<Subject> subjects(const BenchArguments& arguments, const Catalog& catalog) {
  std::vector<Subject> all;
  auto names = arguments.plugins.empty() ? catalog.ids(Kind::kAttention) : arguments.plugins;
  if (arguments.plugins.empty())  // what the others are compared with
    std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "softmax"; });
  for (const auto& text : names) {
    const auto plus = text.find('+');
    Subject subject{&find(catalog, Kind::kAttention, text.substr(0, plus)), nullptr};
    if (plus != std::string::npos) {
      subject.compression = &find(catalog, Kind::kCompression, text.substr(plus + 1));
      if (!subject.attention->capabilities.takes_compression)
        throw Error(fmt::format("{}: attention {} takes no compression", text, subject.attention->id));
    }
    all.push_back(subject);
  }
  if (all.empty()) throw Error("no attention plugin was found; `ablate plugins` lists the folders looked at");
  return all;
}

/// Whether a subject's own plugins have the parameter at a path: "attention.heads".
bool has_parameter(const Subject& subject, const std::string& path) {
  const auto name = path.substr(path.find('.') + 1);
  if (path.starts_with("attention.")) return subject.attention->find(name) != nullptr;
  return path.starts_with("compression.") && subject.compression != nullptr && subject.compression->find(name) != nullptr;
}

bool of_a_plugin(const std::string& path) { return path.starts_with("attention.") || path.starts_with("compression."); }

/// The grid's rows: a parameter varies in those that have it.
std::string rows(const std::vector<Subject>& subjects, const std::vector<Varied>& vary) {
  std::vector<std::string> all;
  for (const auto& subject : subjects) {
    std::vector<std::string> own = {fmt::format("attention.plugin = \"{}\"", subject.attention->id)};
    if (subject.compression != nullptr) own[0] += fmt::format(", compression.plugin = \"{}\"", subject.compression->id);
    for (const auto& [path, values] : vary) {
      if (!has_parameter(subject, path)) continue;
      std::vector<std::string> longer;
      for (const auto& row : own)
        for (const auto& value : values) longer.push_back(fmt::format("{}, {} = {}", row, path, value.dump()));
      own = std::move(longer);
    }
    all.insert(all.end(), own.begin(), own.end());
  }
  for (const auto& [path, unused] : vary)
    if (of_a_plugin(path) &&
        std::none_of(subjects.begin(), subjects.end(), [&](const Subject& subject) { return has_parameter(subject, path); }))
      throw Error(fmt::format("none of the plugins has the parameter {}; `ablate plugins ID` lists those of one", path));
  return fmt::format("  {{ {} }},\n", fmt::join(all, " },\n  { "));
}

/// Axes of the model's and the training's parameters.
std::string axes(const std::vector<Varied>& vary) {
  std::string text;
  for (const auto& [path, values] : vary)
    if (!of_a_plugin(path)) text += fmt::format("{} = {}\n", path, values.dump());
  return text;
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + nlohmann::json(text).dump();
  return "[" + list + "]";
}

/// A median over seven steps after which nothing is evaluated that could be left out.
std::string compose(const BenchArguments& arguments, const std::vector<Subject>& subjects, const std::vector<Varied>& vary) {
  return fmt::format(R"(# Written by `ablate bench`.
[experiment]
name = {}
description = "Cost of attentions by sequence length: random bytes, nothing is learned."
[task]
plugin = "bytes"
[model]
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
                     nlohmann::json(arguments.name).dump(), rows(subjects, vary), fmt::join(arguments.batch, ", "),
                     quoted(arguments.devices), quoted(arguments.dtypes), axes(vary), fmt::join(arguments.lengths, ", "));
}

fs::path kept_studies() { return cache_folder() / "studies"; }

/// A name that is a file's and a word, and no other study's: its grid would take the place of that one's.
void check_name(const std::string& name, const fs::path& database) {
  const auto in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name.front() == '.' || !std::all_of(name.begin(), name.end(), in_name))
    throw Error(fmt::format("--name {}: expected letters, digits, '-', '_' and '.'", name));
  if (!fs::exists(database)) return;
  const db::Reader reader(database);
  const auto file = db::study_file(reader, name);
  if (file.empty() || fs::path(file).parent_path() == kept_studies()) return;
  throw Error(fmt::format("--name {}: that experiment is the one of {}; give another name", name, file));
}

/// Under the hash of its text, so that a run's study stays what it was.
fs::path keep(const std::string& name, const std::string& text) {
  const auto folder = kept_studies();
  const auto file = folder / fmt::format("{}-{}.toml", name, sha256(text).substr(0, 12));
  fs::create_directories(folder);
  const auto part = fs::path(file.string() + fmt::format(".{}", getpid()));
  std::ofstream(part) << text;
  std::error_code failed;
  fs::rename(part, file, failed);
  if (failed) throw Error(fmt::format("cannot write {}: {}", file.string(), failed.message()));
  return file;
}

/// The table that all metrics share.
db::TableRequest table_of(const BenchArguments& arguments, const std::vector<Subject>& subjects,
                          const std::vector<Varied>& vary) {
  db::TableRequest request{.experiment = arguments.name, .rows = {"attention"}, .columns = {"task.length"}};
  const bool compressed =
      std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.compression != nullptr; });
  if (compressed) request.rows.emplace_back("compression");
  for (const auto& one : vary) request.rows.push_back(one.path);
  if (arguments.batch.size() > 1) request.rows.emplace_back("train.batch");
  if (arguments.devices.size() > 1) request.rows.emplace_back("train.device");
  if (arguments.dtypes.size() > 1) request.rows.emplace_back("train.dtype");
  request.exponent = arguments.lengths.size() > 1;
  return request;
}

std::string command_of(const db::TableRequest& request) {
  return fmt::format("table {} --rows {} --cols task.length --metric train/step_time{}", request.experiment,
                     fmt::join(request.rows, ","), request.exponent ? " --exponent" : "");
}

void print_tables(db::TableRequest request, const std::vector<Subject>& subjects, const Options& options) {
  const db::Reader reader(options.database_file());
  const auto print = [&](const char* metric) {
    request.metrics = {metric};
    fmt::print("{}\n", db::to_text(db::make_table(reader, request), db::Format::kText));
  };
  for (const auto* metric : {"train/forward_time", "train/forward_backward_time", "train/step_time", "memory/peak_tensor"})
    print(metric);
  if (subjects.size() < 2) return;
  const auto& first = subjects.front();
  request.baseline = {"attention=" + first.attention->id};
  if (first.compression != nullptr) request.baseline.push_back("compression=" + first.compression->id);
  request.exponent = false;
  for (const auto* metric : {"train/step_time", "memory/peak_tensor"}) print(metric);
}

int bench(const BenchArguments& arguments, const Options& options) {
  std::unique_ptr<WorkerClient> worker;
  check_name(arguments.name, options.database_file());
  const auto catalog = catalog_of(find_libraries(options, worker));
  worker.reset();
  const auto all = subjects(arguments, catalog);
  const auto vary = varied(arguments);
  const auto file = keep(arguments.name, compose(arguments, all, vary));
  const auto request = table_of(arguments, all, vary);
  // One at a time: trials side by side would slow each other down.
  const auto code = run_study({.file = file.string(),
                               .overrides = arguments.overrides,
                               .jobs = 1,
                               .again = arguments.again,
                               .dry_run = arguments.dry_run,
                               .table = command_of(request)},
                              options);
  if (!arguments.dry_run && code != static_cast<int>(ExitCode::kInterrupted)) print_tables(request, all, options);
  return code;
}

}  // namespace

void add_bench(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("bench", "What attentions cost: time, memory and how they grow with the sequence length")
                      ->group("Run ablations");
  auto arguments = std::make_shared<BenchArguments>();
  const CLI::Validator count(
      [](const std::string& text) {
        const bool ok =
            !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos && text[0] != '0';
        return ok ? std::string() : fmt::format("found {}, expected whole numbers above 0, commas between", text);
      },
      "");
  const auto list = [&](const char* name, auto& values, const char* help, const char* type) {
    return command->add_option(name, values, help)->delimiter(',')->type_name(type)->allow_extra_args(false);
  };
  command
      ->add_option("PLUGIN", arguments->plugins,
                   "attentions, or ATTENTION+COMPRESSION; the first is what the others are compared with; default: all")
      ->type_name("");
  list("--lengths", arguments->lengths, "tokens; default: 1024,2048,4096,8192,16384", "N,...")->check(count);
  list("--batch", arguments->batch, "examples a step; default: 1", "N,...")->check(count);
  list("--heads", arguments->heads, "for attentions with such a parameter", "N,...")->check(count);
  list("--device", arguments->devices, "cpu, cuda or cuda:N; default: cpu", "DEVICE,...");
  list("--dtype", arguments->dtypes, "float32 or bfloat16; default: float32", "TYPE,...");
  command
      ->add_option("--vary", arguments->vary,
                   "any other parameter, in the attentions that have it: attention.window=[16, 32]; repeat it for more")
      ->type_name("PATH=[V,...]")
      ->allow_extra_args(false);
  command->add_option("--name", arguments->name, "the experiment's name in the run history; default: bench")->type_name("NAME");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: any other value of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--again", arguments->again, "measure what is in the run history already once more");
  command->add_flag("--dry-run", arguments->dry_run, "check everything and print the trials; nothing is run or recorded");
  command->footer(
      "Every point is a trial of seven steps on random bytes, stored in the run history; what is there already is not\n"
      "measured again (--again does; --set seeds=3 measures three times).\n"
      "Example:\n  ablate bench softmax linear compressed+clustering --lengths 1024,4096 --batch 8 --set train.threads=2");
  command->callback([=, &options, &exit_code] { exit_code = bench(*arguments, options); });
}

}  // namespace ablate
