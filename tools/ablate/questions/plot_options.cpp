#include "tools/ablate/questions/plot_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/number_text.h"
#include "db/questions/tables/table_options.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr double kColumn_mm = 84, kPage_mm = 174;  ///< widths in papers of two columns, on A4 and letter
constexpr double kLeast_mm = 40, kMost_mm = 1000;
constexpr const char* kTableOptions[] = {"rows",  "cols",   "metric",
                                         "where", "rename", "interval"};  ///< a figure also accepts these

std::string kinds_help() {
  std::vector<std::string> all;
  for (const auto* kind : db::all_figures()) all.push_back(fmt::format("{}: {}", kind->name, kind->help));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string x_help() {
  std::vector<std::string> all;
  for (const auto* kind : db::all_figures())
    if (*kind->x_help != '\0') all.emplace_back(kind->x_help);
  return "of " + fmt::format("{}", fmt::join(all, "; of "));
}

double width_of(const std::string& text) {
  if (text == "column") return kColumn_mm;
  if (text == "page") return kPage_mm;
  const auto number = parse_number(text);
  if (number && *number >= kLeast_mm && *number <= kMost_mm) return *number;
  throw Error(fmt::format("--width: found {}, expected column ({} mm), page ({} mm) or millimetres from {} to {}{}", text,
                          kColumn_mm, kPage_mm, kLeast_mm, kMost_mm, hint(text, std::vector<std::string>{"column", "page"})));
}

Picture picture_of(const std::filesystem::path& path) {
  auto ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ending == ".svg") return Picture::kSvg;
  if (ending == ".pdf") return Picture::kPdf;
  if (ending == ".png") return Picture::kPng;
  throw Error(fmt::format("--out {}: found {}, expected a name that ends in .svg, .pdf or .png", path_text(path),
                          ending.empty() ? "no ending" : "the ending " + ending));
}

void add_table_options(CLI::App* command, const std::shared_ptr<PlotArguments>& arguments) {
  for (const auto* name : kTableOptions) {
    const auto& option = *db::find_table_option(name);
    auto* added = command->add_option_function<std::vector<std::string>>(
        fmt::format("--{}", name),
        [arguments, name](const std::vector<std::string>& values) { db::ask(arguments->request.table, name, values); },
        option.help);
    added->type_name(option.value)->allow_extra_args(false);
    if (option.commas) added->delimiter(',');
    if (!option.repeated) added->expected(1);
    if (option.refuse != nullptr) added->check(CLI::Validator(option.refuse, "", ""));
  }
}

}  // namespace

void add_plot(CLI::App& app, const std::function<void(const PlotArguments& asked)>& run) {
  const auto arguments = std::make_shared<PlotArguments>(PlotArguments{.width_mm = kColumn_mm});
  auto* command = app.add_subcommand("plot", "A figure of trials for a paper or a screen: SVG, PDF or PNG");
  command->group(kQuestions);
  command
      ->add_option_function<std::string>(
          "KIND", [arguments](const std::string& name) { arguments->kind = &db::figure_kind(name); }, kinds_help())
      ->type_name("")
      ->required();
  command
      ->add_option("EXPERIMENT", arguments->request.table.experiments,
                   "the trials of these experiments' latest grids; required if the history has several experiments")
      ->type_name("")
      ->check(not_empty());
  add_table_options(command, arguments);
  command->add_option("--x", arguments->request.x, x_help())->type_name("NAME")->check(not_empty());
  command
      ->add_option_function<std::string>(
          "--width", [arguments](const std::string& text) { arguments->width_mm = width_of(text); },
          fmt::format("column ({} mm, the default), page ({} mm) or millimetres", kColumn_mm, kPage_mm))
      ->type_name("WIDTH");
  add_out(command, arguments->out)->required();
  command->footer(
      "The ending of FILE selects the format; PNG has 300 dots an inch. Rows are lines or points, columns are panels. A note "
      "on stderr names the trials that a figure leaves out.\n"
      "Example:\n"
      "  ablate plot curves quickstart --metric dev/accuracy --out curves.pdf\n"
      "  ablate plot front quickstart --x memory --out front.svg\n"
      "  ablate plot growth bench --cols task.length --width page --out growth.pdf\n"
      "  ablate plot heat sweep --rows train.learning_rate --cols model.d_model --out heat.png");
  command->callback([arguments, run] {
    arguments->picture = picture_of(arguments->out.path);
    run(*arguments);
  });
}

}  // namespace ablate
