// ablate bench: what attentions cost by sequence length. A study composed from a few options, run like any other.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "core/host/client/start_worker.h"
#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "core/util/sha256.h"
#include "db/questions/make_table.h"
#include "db/report/printers.h"
#include "tools/ablate/bench_study.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/questions/verdict_today.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

/// Throws Error where the user has no cache folder.
fs::path kept_studies() {
  const auto cache = cache_folder();
  if (cache.empty()) throw Error(fmt::format("no folder for the study of a bench: {}", kNoCache));
  return cache / "studies";
}

/// A name that is a file's and a word, and no other study's: its grid would take the place of that one's.
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
  throw Error(fmt::format("--name {}: that experiment is the one of {}; give another name", name, file));
}

/// Under the hash of its text, so that a run's study stays what it was.
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

/// The table that all metrics share.
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

/// The rows and lengths whose step times are not to be believed; "" where all are.
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
      // One at a time: trials side by side would slow each other down.
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
  list("--device", arguments->devices, "cpu, cuda, cuda:N or auto; default: cpu", "DEVICE,...");
  list("--dtype", arguments->dtypes, "float32, bfloat16, or mixed; default: float32", "TYPE,...");
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
