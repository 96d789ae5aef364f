#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "db/report/printers.h"
#include "db/report/written_table.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/asked_table.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr std::uintmax_t kMostPaperBytes = std::uintmax_t{1} << 28;

std::string text_of(const std::filesystem::path& path) {
  RegularFile file(path);
  if (file.size() > kMostPaperBytes) throw Error(fmt::format("{}: found more than 256 MiB, expected a paper", path_text(path)));
  return whole_text(file);
}

/// Parses the words of a table. Throws Error if this ablate does not know them.
AskedTable read_words(std::vector<std::string> words, const std::string& where) {
  const auto asked = std::make_shared<AskedTable>();
  CLI::App app;
  add_asked_table(app.add_subcommand("table"), asked);
  app.require_subcommand(1);
  std::reverse(words.begin(), words.end());  // in the order that CLI11 expects
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}found a command that this ablate does not know: {}", where, error.what()));
  }
  return *asked;
}

/// Prints the differences and returns the number of lines.
std::size_t verify(const db::WrittenTable& found, const std::string& name, const CLI::App* command, const db::Reader& reader,
                   const std::filesystem::path& database) {
  const auto where = fmt::format("{}:{}: ", name, found.line);
  const auto table = table_of(read_words(found.request, where), command, reader, database, true);
  const auto expected = db::written_tables(db::to_text(table, found.format), name);
  const auto differences = db::table_differences(found, expected.at(0), table.row_paths.size(), name);
  for (const auto& line : differences) ablate::print("{}\n", db::one_row(line));
  if (differences.empty())
    ablate::print("{}the table agrees with the history: {} rows, {} trials\n", where, table.rows.size(), table.trials);
  return differences.size();
}

}  // namespace

void add_verify(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  const auto file = std::make_shared<std::string>();
  auto* command = app.add_subcommand("verify", "Check that the tables in a paper agree with the run history");
  command->group(kQuestions);
  command
      ->add_option("FILE", *file,
                   "text with tables that `ablate table --format latex`, typst or html wrote, with any text around them")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command->footer(
      "Computes each table again by the command in it. Prints a line for each number, mark, label, note or trial that "
      "differs. Exit codes: 1 if any differs, 2 if the file has no such table.\nExample:\n  ablate verify paper/table.tex");
  command->callback([command, file, database, &exit_code] {
    const auto name = path_text(*file);
    const auto tables = db::written_tables(text_of(*file), name);
    if (tables.empty())
      throw Error(
          fmt::format("{}: found no table that contains its trials, expected a table of `ablate table --format latex`, typst "
                      "or html",
                      name));
    const db::Reader reader(database());
    std::size_t differences = 0;
    for (const auto& table : tables) differences += verify(table, name, command, reader, database());
    warn_of_left_out(reader);
    exit_code = static_cast<int>(differences == 0 ? ExitCode::kDone : ExitCode::kTrialsFailed);
  });
}

}  // namespace ablate
