#include "core/trial/conformance/task_checks.h"

#include <fmt/format.h>

#include "core/trial/conformance/task_suite.h"

namespace ablate {

void check_task(const MakeTask& make, SeedPromise seed, std::int64_t most, Checks& checks) {
  std::unique_ptr<Task> task, again;
  TaskInfo info;
  std::vector<std::filesystem::path> files;
  checks.run("load", "twice, with 2 threads and with 1", 0, [&](std::string&) -> double {
    task = make(2, false);
    again = make(1, false);
    info = task->info();
    files = task->files();
    task->load();
    again->info();
    again->load();
    return 0;
  });
  if (!checks.all().back().passed) return;
  TaskSuite suite(*task, *again, info, most, checks);
  suite.check("info", "", [&] { return fault_of(info); });
  if (!checks.all().back().passed) return;
  suite.check("info is the same after load", "", [&] {
    const auto before = text_of(info), after = text_of(task->info());
    return before == after ? "" : fmt::format("{}, and before {}", after, before);
  });
  suite.check("files", "", [&]() -> std::string {
    for (const auto& file : files)
      if (!std::filesystem::exists(file)) return fmt::format("{} does not exist", file.string());
    if (task->files() != files) return "after load they are others";
    return again->files() == files ? "" : "a second task of the same parameters has others";
  });
  for (const auto& named : kSplits) suite.split(named);
  suite.check("digest is stable", "", [&] {
    if (task->digest().empty()) return "it is empty";
    return again->digest() == task->digest() ? "" : "it differs";
  });
  std::unique_ptr<Task> other;
  if (seed != SeedPromise::kNone)
    suite.check("another seed, another digest", "", [&] {
      auto made = make(2, true);
      const bool same_length = made->info().length == info.length;
      made->load();
      if (made->digest() != task->digest()) {
        if (same_length) other = std::move(made);
        return "";
      }
      if (seed == SeedPromise::kOther) return "the digest is the same";
      return same_length && suite.is_same(*made) ? "" : "the digest is the same, and the examples are not";
    });
  suite.disjoint(other.get());
  if (info.unit.empty()) check_chance(*task, info, checks);
}

}  // namespace ablate
