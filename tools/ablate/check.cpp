// ablate check: the conformance suite over plugins, each in a worker child of its own.
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <map>

#include "core/registry/abi_check.h"
#include "core/registry/values.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_json.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::json;

struct Arguments {
  std::string what;
  std::vector<std::string> parameters;
  int timeout_s = 300;
  bool no_timing = false, as_json = false;
};

/// A folder for what tasks make, gone with the command, whatever became of the plugin.
class Scratch {
 public:
  Scratch() {
    auto pattern = (std::filesystem::temp_directory_path() / "ablate-check.XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("no folder can be made in " + pattern);
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// NAME=VALUE pairs, checked against the schema. A value is JSON, or a text without quotes.
json parameters_of(const PluginInfo& plugin, const std::vector<std::string>& pairs) {
  json result = json::object();
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw Error("--set " + pair + ": expected NAME=VALUE");
    const auto name = pair.substr(0, equals), text = pair.substr(equals + 1);
    const auto* parameter = plugin.find(name);
    if (parameter == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : plugin.parameters) known.push_back(each.name);
      throw Error(fmt::format("--set {}: {} has no parameter {}{}", pair, plugin.id, name, hint(name, known)));
    }
    auto value = json::parse(text, nullptr, false);
    if (value.is_discarded() || parameter->type == ParameterType::kText) value = text;
    const auto checked = check_value(*parameter, value);
    if (!checked.ok()) throw Error(fmt::format("--set {}: expected {}", pair, checked.expected));
    result[name] = checked.value;
  }
  return result;
}

/// A plugin to check, of a path or of a scan.
FoundLibrary library_at(const std::filesystem::path& path, std::unique_ptr<WorkerClient>& worker) {
  const auto refuse = [&](const std::string& why) {
    return Error(fmt::format("{} cannot be loaded: {}", path.string(), why), ExitCode::kPlugin);
  };
  if (!std::filesystem::exists(path)) throw refuse("there is no such file");
  if (const auto why = abi_refusal(path, ABLATE_TORCH_VERSION); !why.empty()) throw refuse(why);
  const auto answer = inspect_library(path, worker);
  for (const auto* reason : {"failed", "refusal"})
    if (answer.contains(reason)) throw refuse(answer.at(reason));
  FoundLibrary library{.path = path, .info = plugin_info_from_json(answer)};
  library.info.path = path;
  return library;
}

std::vector<FoundLibrary> choose(const std::string& what, const std::vector<FoundLibrary>& found,
                                 std::unique_ptr<WorkerClient>& worker) {
  if (what.find('/') != std::string::npos || what.ends_with(".so"))
    return {library_at(std::filesystem::absolute(what), worker)};
  std::vector<FoundLibrary> chosen;
  std::vector<std::string> known;
  for (const auto& library : found) {
    if (library.refusal.empty()) known.push_back(library.info.id);
    if (what.empty() || (library.refusal.empty() && library.info.id == what)) chosen.push_back(library);
  }
  if (!chosen.empty()) return chosen;
  for (const auto& library : found)  // a refused library cannot say its id; by convention it is the file's name
    if (library.path.stem() == what)
      throw Error(fmt::format("{} is refused: {}", library.path.string(), library.refusal), ExitCode::kPlugin);
  if (what.empty()) throw Error("no plugin was found; `ablate plugins` lists the folders looked in", ExitCode::kPlugin);
  throw Error(fmt::format("no plugin {}{}; `ablate plugins` lists what was found, and a library is named by its path", what,
                          hint(what, known)),
              ExitCode::kPlugin);
}

/// What parameters that are plugins are checked with: every compression and attention found, by id.
std::vector<std::string> parts_among(const std::vector<FoundLibrary>& found) {
  std::map<std::string, std::string> paths;
  for (const auto& library : found)
    if (library.refusal.empty() && library.info.kind != Kind::kTask) paths.emplace(library.info.id, library.info.path.string());
  std::vector<std::string> all;
  for (const auto& [id, path] : paths) all.push_back(path);
  return all;
}

std::string number(const json& value) { return value.is_number() ? fmt::format("{:.2g}", value.get<double>()) : "-"; }

void print_check(const json& check) {
  const bool skipped = check.contains("skipped");
  print("  {:<4}  {:<14}  {:>8}  {:>8}  {:<52}  {}\n",
        skipped                          ? "-"
        : check.at("passed").get<bool>() ? "ok"
                                         : "FAIL",
        check.at("check").get<std::string>(), number(check.value("error", json())), number(check.value("tolerance", json())),
        check.at("on").get<std::string>(),
        skipped ? "not run: " + check.at("skipped").get<std::string>() : db::one_row(check.at("found").get<std::string>()));
  std::fflush(stdout);
}

json failed(const json& begun, const std::string& found) {
  return {{"check", begun.value("begin", "load")},
          {"on", begun.value("on", "")},
          {"passed", false},
          {"found", found},
          {"error", nullptr},
          {"tolerance", nullptr}};
}

/// Runs the suite in a child, and hands on each check as it ends. However the child ends, the one that had begun has an end.
void run_suite(const json& spec, int timeout_s, std::unique_ptr<WorkerClient>& worker,
               const std::function<void(const json&)>& done) {
  json begun = json::object();
  const auto heard = [&](const json& data) {
    if (data.contains("begin")) begun = data;
    if (!data.contains("check")) return;
    begun = json::object();
    done(data);
  };
  std::string why;
  try {
    if (!worker) worker = std::make_unique<WorkerClient>();
    const auto answer = worker->ask("check", spec, timeout_s, heard);
    if (answer.value("late", false))
      why = fmt::format("it did not end within {} s (--timeout)", timeout_s);
    else if (answer.contains("failed"))
      why = answer.at("failed");
    else if (!begun.empty())
      why = "it ended the process";
    else
      return;
  } catch (const WorkerEnded& ended) {
    worker.reset();  // the next plugin gets a new one
    why = fmt::format("the worker ended ({})", ended.what());
  }
  done(failed(begun, why + "; the checks after this one did not run"));
}

/// Checks one plugin. @return {"id", "kind", "version", "path", "passed", "checks"}
json check_one(const FoundLibrary& library, const std::vector<std::string>& parts, const Arguments& arguments,
               std::unique_ptr<WorkerClient>& worker) {
  const auto& info = library.info;
  const Scratch scratch;
  const json spec{{"library", library.path.string()},
                  {"parts", parts},
                  {"parameters", parameters_of(info, arguments.parameters)},
                  {"scratch", scratch.path().string()},
                  {"timed", !arguments.no_timing}};
  if (!arguments.as_json) {
    print("{} ({} {}), {}\n", info.id, to_text(info.kind), info.version, path_text(library.path));
    print("  {:<4}  {:<14}  {:>8}  {:>8}  {:<52}  {}\n", "", "check", "off by", "allowed", "on", "found");
  }
  json checks = json::array();
  std::vector<std::string> wrong, skipped;
  std::size_t ran = 0;
  const auto done = [&](const json& check) {
    if (check.contains("skipped")) {
      skipped.push_back(fmt::format("{}: {}", check.at("check").get<std::string>(), check.at("skipped").get<std::string>()));
    } else {
      ++ran;
      if (!check.at("passed").get<bool>()) wrong.push_back(check.at("check"));
    }
    if (!arguments.as_json) print_check(check);
    checks.push_back(check);
  };
  run_suite(spec, arguments.timeout_s, worker, done);
  const auto not_run = skipped.size();
  for (auto* names : {&wrong, &skipped}) names->erase(std::unique(names->begin(), names->end()), names->end());
  if (!arguments.as_json)
    print("{}: {} checks, {}{}\n\n", info.id, ran,
          wrong.empty() ? "all passed" : fmt::format("FAILED: {}", fmt::join(wrong, ", ")),
          skipped.empty() ? "" : fmt::format("; {} not run: {}", not_run, fmt::join(skipped, ", ")));
  return {{"id", info.id},           {"kind", to_text(info.kind)},
          {"version", info.version}, {"path", library.path.string()},
          {"passed", wrong.empty()}, {"checks", checks}};
}

int check(const Arguments& arguments, const Options& options) {
  if (arguments.what.empty() && !arguments.parameters.empty())
    throw Error("--set goes with one plugin: ablate check ID --set NAME=VALUE");
  std::unique_ptr<WorkerClient> worker;
  const auto found = find_libraries(options, worker);
  const auto parts = parts_among(found);
  json all = json::array();
  auto code = ExitCode::kDone;
  for (const auto& library : choose(arguments.what, found, worker)) {
    if (!library.refusal.empty()) {
      if (code == ExitCode::kDone) code = ExitCode::kPlugin;
      all.push_back({{"path", library.path.string()}, {"passed", false}, {"refusal", library.refusal}});
      if (!arguments.as_json) print("{}\n  refused: {}\n\n", path_text(library.path), db::one_row(library.refusal));
      continue;
    }
    all.push_back(check_one(library, parts, arguments, worker));
    if (!all.back().at("passed").get<bool>()) code = ExitCode::kTrialsFailed;
  }
  if (arguments.as_json) print("{}\n", plain_json(all, 2));
  return static_cast<int>(code);
}

}  // namespace

void add_check(CLI::App& app, const Options& options, int& exit_code) {
  auto* command =
      app.add_subcommand("check", "Check that plugins do what they promise (docs/checks.md)")->group("Look at plugins");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("PLUGIN", arguments->what, "an id, or the path of a library; default: every plugin found")
      ->check(not_empty())
      ->type_name("");
  command->add_option("--set", arguments->parameters, "NAME=VALUE: a parameter in place of its default; repeat it for more")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command->add_option("--timeout", arguments->timeout_s, "seconds for each plugin, 300 by default")
      ->check(CLI::Range(1, 86400))
      ->type_name("S");
  command->add_flag("--no-timing", arguments->no_timing,
                    "leave out how time grows with the length: for tests on busy machines");
  command->add_flag("--json", arguments->as_json, "as JSON");
  command->footer(
      "Exit codes: 0 all passed, 1 a check failed, 3 a library cannot be loaded.\n"
      "Example:\n  ablate check adamra\n  ablate check build/my-attention.so");
  command->callback([=, &options, &exit_code] { exit_code = check(*arguments, options); });
}

}  // namespace ablate
