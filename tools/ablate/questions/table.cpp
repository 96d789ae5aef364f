#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "core/shared/versions.h"
#include "core/util/error.h"
#include "core/util/shell_word.h"
#include "db/questions/make_table.h"
#include "db/report/printers.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/verdict_today.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Throws Error where the history has several experiments: a table over all of them is rarely meant.
void refuse_several(const db::Reader& reader) {
  auto names = reader.experiments();
  for (auto& name : names) name = db::one_row(name);
  if (names.size() > 1)
    throw Error(fmt::format("{} has {} experiments: {}; name one, or --all for one table over all of them",
                            reader.file().string(), names.size(), fmt::join(names, ", ")));
}

/// --plugins of the program whose command it is: a history alone has none.
std::vector<std::string> named_folders(const CLI::App* command) {
  const auto* option = command->get_parent() == nullptr ? nullptr : command->get_parent()->get_option_no_throw("--plugins");
  return option == nullptr ? std::vector<std::string>() : option->results();
}

/// An option for each statistic that has one; what is asked goes into the request.
void add_statistics(CLI::App* command, const std::shared_ptr<db::TableRequest>& request) {
  for (const auto* statistic : db::all_statistics()) {
    const std::string name = statistic->option;
    if (name.empty()) continue;
    if (*statistic->value == '\0') {
      command->add_flag_callback(
          "--" + name, [request, name] { request->statistics[name]; }, statistic->help);
      continue;
    }
    auto* option = command->add_option_function<std::vector<std::string>>(
        "--" + name, [request, name](const std::vector<std::string>& values) { request->statistics[name] = values; },
        statistic->help);
    option->type_name(statistic->value)->allow_extra_args(false);
    if (!statistic->repeated) option->expected(1);
    if (statistic->refuse != nullptr) option->check(CLI::Validator(statistic->refuse, "", ""));
  }
  for (const auto* statistic : db::all_statistics())
    if (*statistic->excludes != '\0')
      command->get_option(std::string("--") + statistic->option)
          ->excludes(command->get_option(std::string("--") + statistic->excludes));
}

}  // namespace

void add_table(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::TableRequest request;
    db::Format format = db::Format::kText;
    OutputFile out;
    bool all = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("table", "An ablation table: mean ± standard deviation of a metric over seeds");
  command->group(kQuestions);
  auto* experiment =
      command
          ->add_option(
              "EXPERIMENT", arguments->request.experiments,
              "only the trials of these experiments' latest grids; of several the experiment is a row; needed where the "
              "history has several")
          ->type_name("")
          ->check(not_empty());
  command
      ->add_option(
          "--rows", arguments->request.rows,
          "parameters that make the rows, commas between; '!PATH': all that vary but this; default: all that vary, except "
          "the seed")
      ->delimiter(',')
      ->check(not_empty())
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      ->add_option("--cols", arguments->request.columns,
                   "parameters that make the columns, commas between; default: the task, if it varies")
      ->delimiter(',')
      ->check(not_empty())
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      ->add_option("--metric", arguments->request.metrics,
                   "metrics, commas between, a group of columns each; default: test/accuracy, or what the trials have")
      ->delimiter(',')
      ->check(not_empty())
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--published", arguments->request.published,
                    "beside every column what papers report for the same trials (a study's [[published]])");
  command
      ->add_option("--where", arguments->request.where,
                   "only trials that meet it: 'task=image', 'attention=softmax,local', 'attention.rates=1/16..1/4', "
                   "'task.length>=512', 'attention!=softmax'; several: all of them")
      ->check(not_empty())
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  add_statistics(command, {arguments, &arguments->request});
  command->add_flag("--all", arguments->all, "the trials of all experiments in one table")->excludes(experiment);
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  add_out(command, arguments->out);
  command->footer(
      "Trials that failed are shown as what they are, beside the mean of those that are done. Marked are rows of plugins that "
      "fail their checks (!) or were never checked (?; where none was, a note says so), and step times of a busy machine (~).\n"
      "Example:\n"
      "  ablate table quickstart --rows attention,attention.rates --metric test/accuracy,train/step_time\n"
      "  ablate table quickstart bench --cols experiment --metric train/step_time\n"
      "  ablate table bench --cols task.length --metric train/step_time --baseline attention=softmax --exponent\n"
      "  ablate table quickstart --where 'attention.rates<=1/4' --against best --format latex --out table.tex");
  command->callback([command, arguments, database, &exit_code] {
    const auto format = arguments->format;
    const db::Reader reader(database());
    arguments->request.verdict_today = [&](const UsedPlugin& plugin) { return verdict_today(reader, plugin); };
    arguments->request.check_options = [command](const auto& libraries) {
      return plugin_options(named_folders(command), libraries);
    };
    if (const auto file = database().string(); file != kDefaultDatabase)  // another shell may have no ABLATE_DB
      arguments->request.database_option = " --db " + shell_word(file);
    arguments->request.suite = kSuiteVersion;
    if (!arguments->all && arguments->request.experiments.empty()) refuse_several(reader);
    const auto table = db::make_table(reader, arguments->request);
    arguments->out.put(db::to_text(table, format));
    if (format == db::Format::kCsv)  // has no place for them
      for (const auto& note : table.notes) say("note: {}\n", db::one_row(note));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
