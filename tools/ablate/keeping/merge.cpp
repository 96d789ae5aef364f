#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/store.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Lists the histories to merge. A folder means all histories in it, because `ablate run --share` leaves copies in a folder.
std::vector<std::string> histories(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const auto& one : named) {
    std::error_code none;
    if (!std::filesystem::is_directory(one, none)) {
      files.push_back(one);
      continue;
    }
    std::vector<std::string> in_it;
    for (const auto& entry : std::filesystem::directory_iterator(one, none))
      if (entry.path().extension() == ".db" && entry.is_regular_file(none)) in_it.push_back(entry.path().string());
    if (in_it.empty())
      throw Error(fmt::format("merge: found no run history in the folder {}, expected files that end in .db", one));
    std::sort(in_it.begin(), in_it.end());
    files.insert(files.end(), in_it.begin(), in_it.end());
  }
  return files;
}

/// Returns a note about trials that tables of this history now leave out, with the command that lists them again.
std::string left_out_text(const db::LeftOut& lost, const std::filesystem::path& file) {
  std::string remedy = "ablate run " + shell_word(lost.file);
  for (const auto& override : lost.overrides) remedy += " --set " + shell_word(override);
  if (file != kDefaultDatabase) remedy += " --db " + shell_word(file.string());
  const bool is_one = lost.trials == 1;
  return fmt::format(
      "note: {}: tables show only the later of two grids. They leave out {} that {} done in the earlier grid only. To list {} "
      "again without repeating {}, run `{}` with the study of the earlier grid",
      lost.experiment, counted(lost.trials, "trial"), is_one ? "is" : "are", is_one ? "it" : "them", is_one ? "it" : "them",
      remedy);
}

int merge(const std::filesystem::path& file, const std::vector<std::string>& named) {
  const StopOnSignal stop;
  const auto others = histories(named);
  std::error_code none;
  for (const auto& other : others)
    if (std::filesystem::equivalent(file, other, none))
      throw Error(fmt::format("merge: {} is the history itself, expected another one; --db FILE names the target", other));
  std::deque<db::OtherHistory> opened;  // all are opened before anything is written
  for (const auto& other : others) {
    const bool is_of_folder = std::find(named.begin(), named.end(), other) == named.end();
    if (is_of_folder && !std::filesystem::exists(other, none)) {
      say("note: the share's next run has just taken over {}; merge again for its results\n", path_text(other));
      continue;
    }
    opened.emplace_back(other);
  }
  db::Store store(file);
  for (const auto& other : opened) {
    const auto merged = store.merge(other);
    print("{}: {} of {} came, {} there already{}\n", path_text(other.file()), counted(merged.attempts, "attempt"),
          counted(merged.trials, "trial"), merged.known == 1 ? "1 was" : fmt::format("{} were", merged.known),
          other.is_copied() ? "; it has an earlier schema, so a migrated copy of it was read" : "");
    if (const auto& changed = merged.other_numbers; changed.attempts > 0)
      say("warning: {} {} other numbers in {}, first {}. The numbers here stay; a program other than ablate has changed one of "
          "the two files\n",
          counted(changed.attempts, "attempt"), changed.attempts == 1 ? "has" : "have", path_text(other.file()), changed.first);
    if (!merged.unlike.empty())
      say("warning: {}{}. The latest attempt counts; a plugin is not deterministic, or something outside the key has "
          "changed\n",
          merged.unlike.front(),
          merged.unlike.size() > 1 ? fmt::format(", and {} more (`ablate db check`)", merged.unlike.size() - 1) : "");
    for (const auto& lost : merged.left_out) say("{}\n", left_out_text(lost, file));
    if (const auto files = static_cast<std::int64_t>(merged.lacked.size()); files > 0)
      print("{}: {} of {} of output, weights and checkpoints copied, {}{}\n", path_text(other.file()), merged.copied.files,
            counted(files, "file"), bytes_text(merged.copied.bytes),
            merged.copied.files < files ? "; the others are missing, or stay where they are" : "");
  }
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  const auto others = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand("merge", "Copy missing trials and results from other histories into the run history");
  command->group(kKeeping);
  command
      ->add_option("OTHER", *others,
                   "run histories, or folders of run histories, such as the folder NAME.shares of a shared grid. A merge only "
                   "reads them. Their order does not matter, and a second merge changes nothing")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command->footer("Example:\n  ablate merge laptop.db lm.shares");
  command->callback([others, database, &exit_code] { exit_code = merge(database(), *others); });
}

}  // namespace ablate
