#include <fmt/format.h>

#include <set>

#include "core/host/scheduler/grid_run.h"

namespace ablate {
namespace {

constexpr int kMostDeaths = 3;
constexpr double kLong_s = 60;  ///< time until a note about the load in progress, and between two notes
constexpr const char* kCuda = "cuda";

std::string key_of(const UsedPlugin& plugin) { return "library " + plugin.path; }
std::string key_of_task(const PlannedTrial& planned) { return "task " + to_json(planned.trial->spec.task).dump(); }

}  // namespace

std::vector<WorkerLoad::Item> WorkerLoad::items(const Waiting& waiting) {
  std::vector<Item> libraries, tasks;
  std::set<std::string> seen;
  bool cuda = false;
  for (const auto* planned : waiting) {
    for (const auto& plugin : planned->plugins)
      if (const auto key = key_of(plugin); seen.insert(key).second) {
        auto& item = libraries.emplace_back(Item{.key = key, .name = plugin.path, .library = plugin});
        item.command.libraries = {{plugin.path}, {{plugin.path, plugin.content_hash}}};
      }
    const auto& task = planned->trial->spec.task;
    if (const auto key = key_of_task(*planned); seen.insert(key).second) {
      auto& item = tasks.emplace_back(Item{.key = key, .name = "the data of task " + task.id});
      item.command.tasks = {{task, planned->data_digest, planned_files(*planned->trial, TrialSection::kTask)}};
    }
    cuda = cuda || planned->trial->spec.train.on_cuda();
  }
  auto all = std::move(libraries);
  if (cuda) all.emplace_back(Item{.key = kCuda, .name = "CUDA"}).command.cuda = true;
  all.insert(all.end(), tasks.begin(), tasks.end());
  return all;
}

void WorkerLoad::load(Executors& executors, const Waiting& waiting, LibraryWatch& watch) {
  const auto all = items(waiting);
  auto* executor = executors.now();
  while (executor != nullptr && !stops_.any() && !load_all(*executor, all, watch)) executor = executors.replace(note_);
  is_first_ = false;
}

bool WorkerLoad::load_all(Executor& executor, const std::vector<Item>& all, LibraryWatch& watch) {
  for (const auto& item : all) {
    if (refused_.contains(item.key)) continue;
    if (!item.library.path.empty()) watch.remember({item.library});
    try {
      const auto refusal = load(executor, item);
      if (stops_.any()) {
        executor.give_up();
        return true;
      }
      if (refusal) refuse(item, *refusal);
      if (refusal && refusal->needs_another_worker) return false;
      deaths_.erase(item.key);
    } catch (const WorkerEnded& ended) {
      const auto why = fmt::format("the worker ended while it loaded {}: {}", item.name, ended.what());
      if (++deaths_[item.key] < kMostDeaths)
        note_(fmt::format("warning: {}; trying again", why));
      else
        refuse(item, {why});
      return false;
    }
  }
  return true;
}

std::optional<WorkerLoad::Refusal> WorkerLoad::load(Executor& executor, const Item& item) const {
  executor.send(item.command);
  const double start_s = clock_.now_s();
  for (double next_word_s = kLong_s; !stops_.any();) {
    waits_();
    const auto event = executor.next(1000);
    if (event && std::holds_alternative<LoadedEvent>(*event)) return std::nullopt;
    if (const auto* refused = event ? std::get_if<RefusedEvent>(&*event) : nullptr)
      return Refusal{(refused->spoilt ? item.name + ": " : "") + refused->reason, refused->code, refused->spoilt};
    const double waited_s = clock_.now_s() - start_s;
    if (waited_s > limit_s_) {
      executor.give_up();
      return Refusal{.reason = fmt::format("the worker did not load {} within {:g} s, although a separate job loaded it "
                                           "before. Does its load() hang with one thread, or with a cache?",
                                           item.name, limit_s_),
                     .needs_another_worker = true};
    }
    if (waited_s > next_word_s) {
      note_(fmt::format("loading {} for {:.0f} s", item.name, waited_s));
      next_word_s += kLong_s;
    }
  }
  return std::nullopt;
}

void WorkerLoad::refuse(const Item& item, const Refusal& why) {
  if (forget_ && item.library.path.empty()) forget_();
  if (is_first_) throw Error(why.reason, why.code);
  refused_[item.key] = why.reason;
  note_(fmt::format("warning: the trials that need {} fail: {}", item.name, why.reason));
}

std::string WorkerLoad::refusal(const PlannedTrial& planned) const {
  if (refused_.empty()) return "";
  std::vector<std::string> needed;
  for (const auto& plugin : planned.plugins) needed.push_back(key_of(plugin));
  if (planned.trial->spec.train.on_cuda()) needed.emplace_back(kCuda);
  needed.push_back(key_of_task(planned));
  for (const auto& key : needed)
    if (const auto found = refused_.find(key); found != refused_.end())
      return "a worker ended, and the next worker could not load a part that this trial needs: " + found->second;
  return "";
}

}  // namespace ablate
