#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/util/error.h"
#include "db/questions/tables/make_table.h"
#include "db/questions/tables/table_options.h"
#include "db/report/printers.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/asked_table.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr int kMostTimes = 1000;  ///< how often a command line may repeat one option

void add_options(CLI::App* command, const std::shared_ptr<AskedTable>& asked, const std::set<std::string>& only) {
  const auto is_there = [&](const std::string& name) { return only.empty() || only.contains(name); };
  for (const auto& option : db::table_options()) {
    const auto& name = option.name;
    if (!is_there(name)) continue;
    if (option.is_flag()) {
      command->add_flag_callback(
          "--" + name, [asked, name] { asked->options[name]; }, option.help);
      continue;
    }
    auto* added = command->add_option_function<std::vector<std::string>>(
        "--" + name, [asked, name](const std::vector<std::string>& values) { asked->options[name] = values; }, option.help);
    added->type_name(option.value)->allow_extra_args(false);
    if (option.each > 1) added->type_size(option.each)->expected(1, kMostTimes);
    if (option.commas) added->delimiter(',');
    if (!option.repeated) added->expected(1);
    if (option.refuse != nullptr) added->check(CLI::Validator(option.refuse, "", ""));
  }
  for (const auto& option : db::table_options())
    if (is_there(option.name) && !option.excludes.empty() && is_there(option.excludes))
      command->get_option("--" + option.name)->excludes(command->get_option("--" + option.excludes));
}

/// True for formats that store the trials and the words of the command, in comments or attributes.
bool carries_words(db::Format format) {
  return format == db::Format::kLatex || format == db::Format::kTypst || format == db::Format::kHtml;
}

}  // namespace

void add_asked_table(CLI::App* command, const std::shared_ptr<AskedTable>& asked, const std::set<std::string>& only) {
  auto* experiment = command
                         ->add_option("EXPERIMENT", asked->experiments,
                                      "only the trials of these experiments' latest grids; several experiments are rows of "
                                      "the table; required if the history has several experiments")
                         ->type_name("")
                         ->check(not_empty());
  command
      ->add_option("--table", asked->named,
                   "use the options of the study's [table.NAME]; options of the command line replace its options")
      ->check(not_empty())
      ->type_name("NAME");
  add_options(command, asked, only);
  command->add_flag("--all", asked->all, "the trials of all experiments in one table")->excludes(experiment);
}

std::vector<std::string> words_of(const AskedTable& asked, const db::Reader& reader) {
  std::vector<std::string> words = {"table"};
  const auto experiments = asked.all || !asked.experiments.empty() ? asked.experiments : reader.experiments();
  words.insert(words.end(), experiments.begin(), experiments.end());
  if (asked.all) words.emplace_back("--all");
  if (!asked.named.empty()) words.insert(words.end(), {"--table", asked.named});
  for (const auto& [name, values] : asked.options) {
    const auto* option = db::find_table_option(name);
    if (option->is_flag()) words.push_back("--" + name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % static_cast<std::size_t>(option->each) == 0) words.push_back("--" + name);
      words.push_back(values[i]);
    }
  }
  return words;
}

db::Table table_of(const AskedTable& asked, const CLI::App* command, const db::Reader& reader,
                   const std::filesystem::path& database, bool carries_words) {
  auto request = usual_request(command, reader, database);
  request.experiments = asked.experiments;
  if (!asked.all && asked.experiments.empty()) refuse_several(reader, "name one, or --all for one table over all of them");
  if (!asked.named.empty()) ask_as_named(reader, asked.named, asked.options, request);
  for (const auto& [option, values] : asked.options) db::ask(request, option, values);
  if (carries_words) request.words = words_of(asked, reader);
  return db::make_table(reader, request);
}

void add_table(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments : AskedTable {
    db::Format format = db::Format::kText;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("table", "An ablation table: mean ± standard deviation of a metric over seeds");
  command->group(kQuestions);
  add_asked_table(command, arguments);
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  add_out(command, arguments->out);
  command->footer(
      "A cell shows its failed trials beside the mean of its done trials. Marks: ! a plugin of the row failed its checks, ? a "
      "plugin of the row was never checked (if no plugin was ever checked, a note replaces these marks), ~ a step time was "
      "measured on a busy machine.\n"
      "Example:\n"
      "  ablate table quickstart --rows attention,attention.rates --metric test/accuracy,train/step_time\n"
      "  ablate table quickstart bench --cols experiment --metric train/step_time\n"
      "  ablate table bench --cols task.length --metric train/step_time --baseline attention=softmax --exponent\n"
      "  ablate table quickstart --where 'attention.rates<=1/4' --against best --format latex --out table.tex\n"
      "  ablate table quickstart --contrasts attention=adamra attention=softmax --contrasts attention=linear "
      "attention=softmax\n"
      "  ablate table quickstart --table speed");
  command->callback([command, arguments, database, &exit_code] {
    const auto format = arguments->format;
    const db::Reader reader(database());
    const auto table = table_of(*arguments, command, reader, database(), carries_words(format));
    arguments->out.put(db::to_text(table, format));
    if (format == db::Format::kCsv)  // CSV has no lines for notes
      for (const auto& note : table.notes) say("note: {}\n", db::one_row(note));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
