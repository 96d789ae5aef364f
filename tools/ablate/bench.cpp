// ablate bench: what attentions cost by sequence length. A study composed from a few options, run like any other.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/sha256.h"
#include "db/table.h"
#include "tools/ablate/commands.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct BenchArguments {
  std::vector<std::string> plugins;  ///< ATTENTION or ATTENTION+COMPRESSION; none: all attentions
  std::vector<std::int64_t> lengths = {1024, 2048, 4096, 8192, 16384}, batch = {1}, heads;
  std::vector<std::string> devices = {"cpu"}, dtypes = {"float32"}, overrides;
  std::string name = "bench";
  bool dry_run = false;
};

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
  for (const auto& text : arguments.plugins.empty() ? catalog.ids(Kind::kAttention) : arguments.plugins) {
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

/// The grid's rows: heads vary where an attention has such a parameter.
std::string rows(const std::vector<Subject>& subjects, const std::vector<std::int64_t>& heads) {
  std::string text;
  bool heads_used = heads.empty();
  for (const auto& [attention, compression] : subjects) {
    auto row = fmt::format("attention.plugin = \"{}\"", attention->id);
    if (compression != nullptr) row += fmt::format(", compression.plugin = \"{}\"", compression->id);
    if (attention->find("heads") == nullptr || heads.empty()) {
      text += fmt::format("  {{ {} }},\n", row);
      continue;
    }
    heads_used = true;
    for (const auto count : heads) text += fmt::format("  {{ {}, attention.heads = {} }},\n", row, count);
  }
  if (!heads_used) throw Error("--heads: none of the attentions has a parameter heads");
  return text;
}

std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) list += (list.empty() ? "" : ", ") + nlohmann::json(text).dump();
  return "[" + list + "]";
}

/// A median over seven steps after which nothing is evaluated that could be left out.
std::string compose(const BenchArguments& arguments, const std::vector<Subject>& subjects) {
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
task.length = [{}]
)",
                     nlohmann::json(arguments.name).dump(), rows(subjects, arguments.heads), fmt::join(arguments.batch, ", "),
                     quoted(arguments.devices), quoted(arguments.dtypes), fmt::join(arguments.lengths, ", "));
}

/// Under the hash of its text, so that a run's study stays what it was.
fs::path keep(const std::string& name, const std::string& text) {
  const auto folder = cache_folder() / "studies";
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
db::TableRequest table_of(const BenchArguments& arguments, const std::vector<Subject>& subjects) {
  db::TableRequest request{.experiment = arguments.name, .rows = {"attention"}, .columns = {"task.length"}};
  const bool compressed =
      std::any_of(subjects.begin(), subjects.end(), [](const Subject& s) { return s.compression != nullptr; });
  if (compressed) request.rows.emplace_back("compression");
  if (!arguments.heads.empty()) request.rows.emplace_back("attention.heads");
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
  const auto catalog = catalog_of(find_libraries(options, worker));
  worker.reset();
  const auto all = subjects(arguments, catalog);
  const auto file = keep(arguments.name, compose(arguments, all));
  const auto request = table_of(arguments, all);
  // One at a time: trials side by side would slow each other down.
  const auto code = run_study({file.string(), arguments.overrides, 1, arguments.dry_run, command_of(request)}, options);
  if (!arguments.dry_run && code != static_cast<int>(ExitCode::kInterrupted)) print_tables(request, all, options);
  return code;
}

}  // namespace

void add_bench(CLI::App& app, const Options& options, int& exit_code) {
  auto* command = app.add_subcommand("bench", "What attentions cost: time, memory and how they grow with the sequence length")
                      ->group("Run ablations");
  auto arguments = std::make_shared<BenchArguments>();
  const auto list = [&](const char* name, auto& values, const char* help, const char* type) {
    return command->add_option(name, values, help)->delimiter(',')->type_name(type)->allow_extra_args(false);
  };
  command
      ->add_option("PLUGIN", arguments->plugins,
                   "attentions, or ATTENTION+COMPRESSION; the first is what the others are compared with; default: all")
      ->type_name("");
  list("--lengths", arguments->lengths, "tokens; default: 1024,2048,4096,8192,16384", "N,...")->check(CLI::PositiveNumber);
  list("--batch", arguments->batch, "examples a step; default: 1", "N,...")->check(CLI::PositiveNumber);
  list("--heads", arguments->heads, "for attentions with such a parameter", "N,...")->check(CLI::PositiveNumber);
  list("--device", arguments->devices, "cpu, cuda or cuda:N; default: cpu", "DEVICE,...");
  list("--dtype", arguments->dtypes, "float32 or bfloat16; default: float32", "TYPE,...");
  command->add_option("--name", arguments->name, "the experiment's name in the run history; default: bench")->type_name("NAME");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: any other value of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", arguments->dry_run, "check everything and print the trials; nothing is run or written");
  command->footer(
      "Every point is a trial of seven steps on random bytes, stored in the run history; what is there already is not "
      "measured\n"
      "again (--set seeds=3 measures three times).\n"
      "Example:\n  ablate bench softmax linear compressed+clustering --lengths 1024,4096 --batch 8 --set train.threads=2");
  command->callback([=, &options, &exit_code] { exit_code = bench(*arguments, options); });
}

}  // namespace ablate
