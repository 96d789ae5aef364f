#include "core/trial/conformance/task_subject.h"

#include "core/trial/conformance/opened_files.h"

namespace ablate {
namespace {

constexpr std::int64_t kFewPerSplit = 2000;  // of each split, of a quick look

}  // namespace

void TaskSubject::load() {
  const auto cache = folder("cache");
  untraced = quick ? "it is loaded once more for it, and this is a quick look" : tracing_refusal();
  if (untraced.empty())
    opened = opened_files(
        [&] {
          const auto traced = make(2, cache);
          traced->info();
          traced->files();
          traced->load();
        },
        std::filesystem::canonical(cache));
  auto changes = quick ? with_few_examples(kFewPerSplit) : nlohmann::json::object();
  try {
    task = make(2, cache, changes);
    info = task->info();
  } catch (const std::exception&) {  // it may need more; if it is for another reason, that is told below
    changes = nlohmann::json::object();
    task = make(2, cache);
    info = task->info();
  }
  again = make(1, quick ? cache : folder("cache"), changes);
  files = task->files();
  task->load();
  keeps_data = !std::filesystem::is_empty(cache);
  again->info();
  again->load();
  if (!quick) load_other();
}

}  // namespace ablate
