#include <fmt/format.h>

#include <memory>
#include <string>

#include "db/questions/attempts/differences.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Shortens each digest of a list, "DIGEST, DIGEST", to its first 12 digits.
std::string shortened(const std::string& digests) {
  constexpr std::size_t kDigits = 12;
  std::string text;
  for (std::size_t from = 0; from < digests.size();) {
    const auto to = std::min(digests.find(", ", from), digests.size());
    text += (text.empty() ? "" : ", ") + digests.substr(from, std::min(to - from, kDigits));
    from = to + 2;
  }
  return text;
}

/// Returns 6, or as many digits as two numbers need to look different.
int digits_for(const nlohmann::json& a, const nlohmann::json& b) {
  constexpr int kFewest = 6, kAll = 17;
  int digits = kFewest;
  if (!a.is_number_float() || !b.is_number_float()) return digits;
  const auto alike = [&] {
    return fmt::format("{:.{}g}", a.get<double>(), digits) == fmt::format("{:.{}g}", b.get<double>(), digits);
  };
  while (digits < kAll && alike()) ++digits;
  return digits;
}

nlohmann::json for_people(const nlohmann::json& value, bool digests, int digits) {
  if (value.is_null()) return "-";
  if (value.is_number_float()) return fmt::format("{:.{}g}", value.get<double>(), digits);
  return digests && value.is_string() ? nlohmann::json(shortened(value.get<std::string>())) : value;
}

}  // namespace

void add_diff(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string a, b;
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("diff", "Differences between two attempts, or two experiments");
  command->group(kQuestions);
  command->add_option("A", arguments->a, "an attempt's number or the first digits of its trial's key; or an experiment")
      ->check(not_empty())
      ->check(offers({"EXPERIMENT"}))
      ->type_name("")
      ->required();
  command->add_option("B", arguments->b, "the attempt or experiment to compare A with")
      ->check(not_empty())
      ->check(offers({"EXPERIMENT"}))
      ->type_name("")
      ->required();
  add_format(command, arguments->format, db::format_names(), db::formats_help() + "; default: text");
  command->footer(
      "Attempts are compared by outcome, parameters, code, data, environment and final values. Experiments are compared by "
      "their latest grids: parameters as sets of values, trials that the other experiment lacks, code, data, environments, and "
      "means over the trials with the same settings.\n"
      "Example:\n  ablate diff 1 2");
  command->callback([arguments, database, &exit_code] {
    const db::Reader reader(database());
    const auto found = db::differences_of(reader, arguments->a, arguments->b);
    const db::Write write = [](std::string_view part) { print("{}", part); };
    const auto printer = db::printer_of(arguments->format).rows(write);
    const bool people = printer->for_people();
    const auto none = fmt::format("nothing differs between {} and {}", found.a, found.b);
    if (found.rows.empty() && arguments->format == db::Format::kText) {
      print("{}\n", db::one_row(none));
    } else {
      printer->begin({"what", found.a, found.b});
      for (const auto& [what, a, b, digests] : found.rows)
        if (people) {
          const int digits = digits_for(a, b);
          printer->put({what, for_people(a, digests, digits), for_people(b, digests, digits)});
        } else {
          printer->put({what, a, b});
        }
      printer->end();
      if (found.rows.empty()) say("{}\n", none);
    }
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
