#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/util/bytes_text.h"
#include "core/util/error.h"
#include "core/util/stop_on_signal.h"
#include "db/history/store.h"
#include "tools/ablate/keeping/keeping.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

int merge(const std::filesystem::path& file, const std::vector<std::string>& others) {
  const StopOnSignal stop;
  std::error_code none;
  for (const auto& other : others)
    if (std::filesystem::equivalent(file, other, none))
      throw Error(
          fmt::format("merge: {} is the history itself, expected another one; --db FILE says into which it goes", other));
  std::deque<db::OtherHistory> opened;  // all of them, before anything is written
  for (const auto& other : others) opened.emplace_back(other);
  db::Store store(file);
  for (const auto& other : opened) {
    const auto merged = store.merge(other);
    print("{}: {} of {} came, {} there already{}\n", path_text(other.file()), counted(merged.attempts, "attempt"),
          counted(merged.trials, "trial"), merged.known == 1 ? "1 was" : fmt::format("{} were", merged.known),
          other.is_copied() ? "; it has an earlier schema, of which a copy was brought up to date" : "");
    if (const auto files = static_cast<std::int64_t>(merged.lacked.size()); files > 0)
      print("{}: {} of {} of output, weights and checkpoints copied, {}{}\n", path_text(other.file()), merged.copied.files,
            counted(files, "file"), bytes_text(merged.copied.bytes),
            merged.copied.files < files ? "; the others are not there, or stay where they are" : "");
  }
  return 0;
}

}  // namespace

void add_merge(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  const auto others = std::make_shared<std::vector<std::string>>();
  auto* command = app.add_subcommand("merge", "Take into the run history what others have and it lacks");
  command->group(kKeeping);
  command->add_option("OTHER", *others, "run histories, which are only read; in any order, and twice is as once")
      ->required()
      ->check(not_empty())
      ->type_name("");
  command->footer("Example:\n  ablate merge laptop.db cluster/share-0.db");
  command->callback([others, database, &exit_code] { exit_code = merge(database(), *others); });
}

}  // namespace ablate
