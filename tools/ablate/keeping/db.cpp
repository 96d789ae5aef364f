#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/history/artifacts.h"
#include "db/history/keeping.h"
#include "db/history/recovery.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/offers.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Counts the files beside the history, and lists the files that belong to no attempt.
void tell_files(const std::filesystem::path& file) {
  for (const auto& one : db::kept_files(file)) {
    print("{}: {}, {}\n", path_text(db::artifact_folder(file, one.kind)), counted(one.files, "file"), bytes_text(one.bytes));
    for (const auto& stray : one.strays)
      print("{}: {}\n", path_text(stray),
            one.kind == db::kCheckpoints ? "of a running or interrupted trial; the next run of its study resumes from it"
                                         : "no recorded attempt has this file, but a running attempt may");
  }
}

int check(const std::filesystem::path& file) {
  const auto faults = db::faults(file);
  if (faults.empty()) {
    print("{} is sound\n", path_text(file));
    for (const auto& unlike : db::unlike_numbers(file)) print("warning: {}\n", db::one_row(unlike));
    tell_files(file);
    return 0;
  }
  for (const auto& fault : faults) print("{}\n", db::one_row(fault));
  throw Error(fmt::format("{} is damaged: found the {} above, expected none. {}", path_text(file),
                          faults.size() == 1 ? "fault" : "faults", db::recovery_remedy(file)));
}

int back_up(const std::filesystem::path& file, const std::string& to) {
  if (to.empty()) throw Error("db backup: expected the file to copy into, as in `ablate db backup FILE`");
  db::back_up(file, to);
  print("{} is copied into {}\n", path_text(file), path_text(to));
  return 0;
}

int compact(const std::filesystem::path& file) {
  const auto [before, after] = db::compact(file);
  print("{}: {} before, {} now\n", path_text(file), bytes_text(before), bytes_text(after));
  return 0;
}

const std::vector<std::string>& db_actions() {
  static const std::vector<std::string> all = {"check", "backup", "compact"};
  return all;
}

std::string refuse_action(const std::string& text) {
  const auto& actions = db_actions();
  if (std::find(actions.begin(), actions.end(), text) != actions.end()) return "";
  return fmt::format("found {}, expected check, backup or compact{}", text, hint(text, actions));
}

}  // namespace

void add_db(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string action, to;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("db", "Check the run history, copy it, or make its file smaller");
  command->group(kKeeping);
  command
      ->add_option("ACTION", arguments->action,
                   "check: reads all of it; backup: copies it to FILE, even while a grid runs; compact: frees the space of "
                   "deleted rows")
      ->required()
      ->check(CLI::Validator(refuse_action, "", ""))
      ->check(offers(db_actions()))
      ->type_name("");
  command->add_option("FILE", arguments->to, "backup: the new file")->check(not_empty())->type_name("");
  command->footer("Example:\n  ablate db backup ablate.2026-11-24.db");
  command->callback([arguments, database, &exit_code] {
    const auto& [action, to] = *arguments;
    if (action != "backup" && !to.empty())
      throw Error(fmt::format("db {}: found {}, expected no file; --db names the history", action, to));
    exit_code = action == "check" ? check(database()) : action == "backup" ? back_up(database(), to) : compact(database());
  });
}

}  // namespace ablate
