#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_json.h"
#include "db/history/experiments.h"
#include "db/questions/attempts/list_experiments.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string action, name;
  std::vector<std::string> words;
  bool text = false, remove = false, yes = false;
  db::Format format = db::Format::kText;
};

/// Returns a time, in microseconds since 1970, as text in UTC; "" for 0.
std::string utc_text(std::int64_t us) {
  return us == 0 ? "" : fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(us / 1'000'000)));
}

void list(const fs::path& file, const Arguments& arguments) {
  const db::Reader reader(file);
  const auto lines = db::list_experiments(reader);
  const db::Write write = [](std::string_view part) { print("{}", part); };
  const auto printer = db::printer_of(arguments.format).rows(write);
  const bool people = printer->for_people();
  if (lines.empty()) say("{} has no experiments yet: `ablate run FILE` makes one\n", path_text(file));
  if (lines.empty() && people) return;
  printer->begin({"experiment", "description", "tags", "trials", "done", "failed", "missing", "latest", "file"});
  for (const auto& line : lines) {
    const auto latest = people && line.latest_us != 0 ? db::time_text(line.latest_us) : utc_text(line.latest_us);
    printer->put({line.name, people ? db::first_line(line.description) : line.description,
                  fmt::format("{}", fmt::join(line.tags, ",")), line.trials, line.done, line.failed, line.missing,
                  latest.empty() ? nlohmann::json(nullptr) : nlohmann::json(latest), line.file});
  }
  printer->end();
}

std::string as_json(const db::ExperimentDetails& one) {
  auto notes = nlohmann::ordered_json::array();
  for (const auto& [written_us, text] : one.notes) notes.push_back({{"written_us", written_us}, {"note", text}});
  const nlohmann::ordered_json all = {
      {"experiment", one.name},
      {"description", one.description},
      {"tags", one.tags},
      {"trials", one.trials},
      {"done", one.done},
      {"failed", one.failed},
      {"missing", one.missing},
      {"earlier", one.earlier},
      {"latest_us", one.latest_us == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(one.latest_us)},
      {"file", one.file},
      {"overrides", one.overrides},
      {"notes", notes},
      {"text", one.text}};
  return plain_json(all, 2) + "\n";
}

std::string as_text(const db::ExperimentDetails& one) {
  auto trials = fmt::format("{}: {} done, {} failed, {} missing", one.trials, one.done, one.failed, one.missing);
  if (one.earlier > 0) trials += fmt::format("; {} of earlier grids", one.earlier);
  std::vector<std::string> overrides;
  for (const auto& one_override : one.overrides)
    overrides.push_back(one_override.is_string() ? one_override.get<std::string>() : plain_json(one_override));
  std::vector<std::vector<std::string>> head = {{"experiment", one.name},
                                                {"description", one.description},
                                                {"tags", fmt::format("{}", fmt::join(one.tags, ", "))},
                                                {"trials", trials},
                                                {"latest attempt", one.latest_us == 0 ? "" : db::time_text(one.latest_us)},
                                                {"file", one.file},
                                                {"overrides", fmt::format("{}", fmt::join(overrides, ", "))}};
  std::erase_if(head, [](const auto& row) { return row[1].empty(); });
  auto text = db::render_text(head);
  if (!one.notes.empty()) text += "\nnotes\n";
  for (const auto& note : one.notes) {
    text += fmt::format("  {}  ", db::time_text(note.written_us));
    for (const char c : note.text) text += c == '\n' ? "\n                    " : std::string(1, c);
    text += "\n";
  }
  return text;
}

void show(const fs::path& file, const Arguments& arguments) {
  const bool is_json = arguments.format == db::Format::kJson;
  if (!is_json && arguments.format != db::Format::kText)
    throw Error("experiment show: expected --format text or json; `ablate experiment list` has all formats");
  const db::Reader reader(file);
  const auto one = db::show_experiment(reader, arguments.name);
  print("{}", arguments.text ? one.text : is_json ? as_json(one) : as_text(one));
  for (const auto& line : reader.left_out()) say("warning: {}\n", line);
}

void rename(const fs::path& file, const Arguments& arguments) {
  const auto& to = arguments.words.front();
  const auto study = db::Reader(file).study_file(arguments.name);
  db::rename_experiment(file, arguments.name, to);
  print("{} is called {} now\n", arguments.name, to);
  if (!study.empty())
    say("note: the next run of {} makes an experiment {} again; --set experiment.name={} continues this experiment\n",
        path_text(study), arguments.name, to);
}

void tag(const fs::path& file, const Arguments& arguments) {
  (arguments.remove ? db::untag_experiment : db::tag_experiment)(file, arguments.name, arguments.words);
  const auto tags = db::show_experiment(db::Reader(file), arguments.name).tags;
  print("{}: {}\n", arguments.name, tags.empty() ? "no tags" : fmt::format("{}", fmt::join(tags, ", ")));
}

void note(const fs::path& file, const Arguments& arguments) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  db::note_experiment(file, arguments.name, arguments.words.front(),
                      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  print("noted on {}\n", arguments.name);
}

/// True if the person at the terminal agrees. Throws Error if there is no terminal.
bool agrees(const std::string& what) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0)
    throw Error(fmt::format("experiment delete: found no terminal for the question, expected --yes: it would delete {}", what));
  say("This deletes {}. The history is copied first. Delete? [y/N] ", what);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

void remove(const fs::path& file, const Arguments& arguments) {
  const auto going = db::deletion_of(db::Reader(file), arguments.name);
  db::expect_not_running(going, arguments.name, arguments.yes);
  auto what = fmt::format("{} with {} and {} that no other experiment has", arguments.name, counted(going.trials, "trial"),
                          counted(going.attempts, "attempt"));
  if (going.shared > 0) what += fmt::format(" (kept: {} of other experiments)", counted(going.shared, "trial"));
  const auto lost = going.files.files == 0
                        ? std::string()
                        : fmt::format(", and {} of output, weights and checkpoints, {}, which the copy will lack",
                                      counted(going.files.files, "file"), bytes_text(going.files.bytes));
  if (!arguments.yes && !agrees(what + lost)) throw Error("nothing was deleted", ExitCode::kInterrupted);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const auto backup =
      file.parent_path() / fmt::format("{}.backup-{:%Y%m%d-%H%M%S}-{}.db", file.stem().string(), fmt::localtime(now), getpid());
  const auto files = db::delete_experiment(file, arguments.name, going, arguments.yes, backup);
  print("deleted {}; a copy of the earlier history is in {}\n", what, path_text(backup));
  if (files.files > 0)
    print("deleted {} of output, weights and checkpoints, {}; the copy has none\n", counted(files.files, "file"),
          bytes_text(files.bytes));
}

struct Action {
  const char* name;
  std::size_t least, most;  ///< number of words after the experiment's name
  const char* expected;     ///< words after "ablate experiment"
  void (*act)(const fs::path& file, const Arguments& arguments);
};

constexpr std::size_t kAny = 1 << 20;
constexpr Action kActions[] = {
    {"list", 0, 0, "list", list},
    {"show", 0, 0, "show NAME", show},
    {"rename", 1, 1, "rename OLD NEW", rename},
    {"delete", 0, 0, "delete NAME", remove},
    {"tag", 1, kAny, "tag NAME WORD...", tag},
    {"note", 1, 1, "note NAME 'TEXT'", note},
};

const Action* find_action(const std::string& name) {
  const auto* const at =
      std::find_if(std::begin(kActions), std::end(kActions), [&](const Action& action) { return action.name == name; });
  return at == std::end(kActions) ? nullptr : at;
}

std::vector<std::string> experiment_actions() {
  std::vector<std::string> names;
  for (const auto& action : kActions) names.emplace_back(action.name);
  return names;
}

std::string refuse_experiment_action(const std::string& text) {
  if (find_action(text) != nullptr) return "";
  const auto names = experiment_actions();
  return fmt::format("found {}, expected {}{}", text, fmt::join(names, ", "), hint(text, names));
}

/// Throws Error for words and options that the action does not accept.
void check_arguments(const Action& action, const Arguments& arguments, bool has_format) {
  const std::string name = action.name;
  const auto count = arguments.words.size();
  if ((name == "list") != arguments.name.empty() || count < action.least || count > action.most)
    throw Error(fmt::format("experiment {}: found {} after the action, expected `ablate experiment {}`{}", name,
                            counted(static_cast<std::int64_t>(count) + (arguments.name.empty() ? 0 : 1), "word"),
                            action.expected, name == "note" && count > 1 ? " with the text in quotes" : ""));
  const auto only = [&](bool found, const char* option, const std::vector<std::string>& of) {
    if (found && std::find(of.begin(), of.end(), name) == of.end())
      throw Error(fmt::format("experiment {}: found {}, an option of {}", name, option, fmt::join(of, " and ")));
  };
  only(arguments.text, "--text", {"show"});
  only(arguments.remove, "--remove", {"tag"});
  only(arguments.yes, "--yes", {"delete"});
  only(has_format, "--format", {"list", "show"});
}

}  // namespace

void add_experiment(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("experiment", "List, rename, delete, tag or note the history's experiments");
  command->group(kKeeping);
  command
      ->add_option(
          "ACTION", arguments->action,
          "list: a line for each experiment; show: its details; rename: a new name; delete: the experiment, and the trials "
          "and attempts that no other experiment has, after the history is copied to a file beside it; tag: words to find "
          "the experiment; note: a text, stored with its time")
      ->required()
      ->check(CLI::Validator(refuse_experiment_action, "", ""))
      ->check(offers(experiment_actions()))
      ->type_name("");
  command->add_option("NAME", arguments->name, "the experiment")
      ->check(not_empty())
      ->check(offers({"EXPERIMENT"}))
      ->type_name("");
  command->add_option("WORDS", arguments->words, "rename: the new name; tag: the tags; note: the text, in quotes")
      ->check(not_empty())
      ->type_name("");
  command->add_flag("--text", arguments->text, "show: print only the study, as its latest run read it");
  command->add_flag("--remove", arguments->remove, "tag: remove the tags");
  command->add_flag("--yes", arguments->yes, "delete: do not ask, and count processes of other hosts as ended");
  auto* format =
      add_format(command, arguments->format, db::format_names(), "list: " + db::formats_help() + "; show: text, json");
  command->footer(
      "Example:\n  ablate experiment tag quickstart paper\n  ablate experiment note quickstart 'seeds 4 to 8 after the "
      "review'");
  command->callback([arguments, format, database, &exit_code] {
    const auto& action = *find_action(arguments->action);
    check_arguments(action, *arguments, format->count() > 0);
    action.act(database(), *arguments);
    exit_code = 0;
  });
}

}  // namespace ablate
