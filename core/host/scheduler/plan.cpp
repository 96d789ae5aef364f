#include "core/host/scheduler/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/host/study/diagnostics.h"
#include "core/host/study/start_checks.h"
#include "core/host/study/used_plugins.h"
#include "core/records/setting_paths.h"
#include "core/shared/sections.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Places in models to try in one job, all with the same plugins and the same task.
struct AskedPlaces {
  std::string code;
  TryPlacesJob job;
  json places = json::array();       ///< {"trial": document, "files": digests, if there are any}, part of the cache key
  std::vector<const Trial*> trials;  ///< the first trial with each place
};

std::vector<AskedPlaces> asked_places(const Study& study, const Catalog& catalog) {
  std::map<std::string, AskedPlaces> by_plugins;
  std::set<std::string> seen;
  const auto training = any_training();
  for (const auto* first : first_of_each(study.trials, {TrialSection::kTask, TrialSection::kModel, TrialSection::kAttention})) {
    const auto& trial = *first;
    const auto& [task, model, attention, train, seed] = trial.spec;
    const TrialSpec tried{.task = task, .model = model, .attention = attention, .train = training};
    json place{{"trial", to_json(tried)}};
    if (!trial.files.empty()) place["files"] = trial.files;  // an answer is valid only for one content of a file
    if (!seen.insert(place.dump()).second) continue;
    std::string code;
    Libraries libraries;
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (libraries.hashes.emplace(use.info->path.string(), use.info->content_hash).second) code += use.info->code_identity();
    for (const auto& [path, hash] : libraries.hashes) libraries.paths.push_back(path);
    auto& asked = by_plugins[code + to_json(task).dump()];
    asked.code = code, asked.job.libraries = libraries;
    asked.job.places.push_back({tried});
    asked.places.push_back(place);
    asked.trials.push_back(&trial);
  }
  std::vector<AskedPlaces> all;
  for (auto& [key, asked] : by_plugins) all.push_back(std::move(asked));
  return all;
}

std::vector<TriedPlaces::Refused> ask(const AskedPlaces& asked, Executors& executors, const TaskMemory& memory,
                                      double limit_s) {
  const auto path = memory.path_of(asked.code, {{"kind", TryPlacesJob::kName}, {"places", asked.places}});
  if (memory.find(path)) return {};
  const auto answered = executors.ask(asked.job, limit_s);
  if (!answered.answer) return {};
  if (answered.answer->refused.empty()) memory.put(path, to_json(*answered.answer));
  return answered.answer->refused;
}

/// Returns the parameter that a plugin's refusal names: heads in "heads = 3 does not divide ...". Returns "" if it names none.
std::string parameter_of(const Trial& trial, const Catalog& catalog, const std::string& path, const std::string& why) {
  for (const auto& use : used_plugins(trial.spec, catalog))
    if (use.path == path) return named_parameter(*use.info, why);
  return "";
}

/// Returns the path of the width's setting if an attention's refusal names the width, else "". Returns "" for a part, too,
/// because a part's width may come from another part.
std::string width_of(const Trial& trial, const std::string& path, const std::string& why) {
  const auto name = split_path(path).second;
  const bool is_part = !name.empty() && setting::layer_of(path) != path;
  if (is_part || (why.find("d_model") == std::string::npos && why.find("width") == std::string::npos)) return "";
  return trial.spec.model.attention_width > 0 ? setting::kAttentionWidth : setting::kModelWidth;
}

/// Reports every attention, or part of an attention, that refuses its place in the model, for example because its shares or
/// heads do not divide the width. A worker makes each attention once for a model and a task. An answer without a refusal is
/// cached. Starts an executor only if an answer is not cached. Any other error in a plugin's factory is not reported here, and
/// makes only its trial fail. The time limit is for all queries of the same plugins.
std::vector<Diagnostic> check_places(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                                     double limit_s) {
  Diagnostics diagnostics(study.overrides);
  for (const auto& asked : asked_places(study, catalog))
    for (const auto& refused : ask(asked, executors, memory, limit_s)) {
      const auto& trial = *asked.trials.at(static_cast<std::size_t>(refused.place));
      const auto& [place, path, why] = refused;
      if (is_below(path, section::kModel)) {
        diagnostics.add(where_of(study, trial, {path, setting::kTaskPlugin}), why);
        continue;
      }
      const auto parameter = parameter_of(trial, catalog, path, why);
      diagnostics.add(
          where_of(study, trial,
                   {path + "." + parameter, width_of(trial, path, why), path + ".plugin", setting::kAttentionPlugin}),
          parameter.empty() ? fmt::format("{}: {}", path, why) : fmt::format("{}.{}", path, why));
    }
  return diagnostics.sorted();
}

/// Returns the cache key of a task's answer. It includes the contents of files.
json asked_of(const std::string& kind, const Trial& trial, bool scan_padding) {
  json asked{{"kind", kind}, {"section", to_json(trial.spec.task)}, {"scan_padding", scan_padding}};
  for (const auto& file : planned_files(trial, TrialSection::kTask)) asked["files"].push_back(to_json(file));
  return asked;
}

std::string text_of(const PluginSpec& plugin) { return to_json(plugin).dump(); }

/// Answers of a study's tasks, with one query for each distinct section. Job: DescribeTaskJob or PrepareTaskJob.
template <class Job>
class TaskAnswers {
 public:
  using Answer = typename Job::Answer;

  /// @param late text to add to the error if the time limit was reached
  TaskAnswers(double limit_s, std::string late, const Catalog& catalog, Executors& executors, const TaskMemory& memory)
      : limit_s_(limit_s), late_(std::move(late)), catalog_(catalog), executors_(executors), memory_(memory) {}

  /// Queries the task of every trial. Throws ConfigError with all errors from tasks. After a fault, no other task is queried.
  /// @param scan_padding sections whose examples must be checked for padding
  void ask(const Study& study, const std::set<std::string>& scan_padding = {}) {
    Diagnostics diagnostics(study.overrides);
    for (const auto* trial : first_of_each(study.trials, {TrialSection::kTask})) {
      const auto& given = trial->spec.task;
      const auto [found, is_first] = answers_.try_emplace(text_of(given));
      if (is_first) found->second = ask(*trial, scan_padding.contains(text_of(given)));
      const auto& answered = found->second;
      if (answered.answer) continue;
      // The user can correct a task's own error (missing data, ...). A crash or a wrong answer is the library's fault.
      const auto* task = catalog_.find(Kind::kTask, given.id);
      const auto parameter = named_parameter(*task, answered.failed);
      diagnostics.add(where_of(study, *trial, {setting::in(section::kTask, parameter), setting::kTaskPlugin}),
                      message(given.id, answered.failed), answered.fault ? ExitCode::kPlugin : ExitCode::kUsage);
      if (answered.fault) break;
    }
    if (!diagnostics.empty()) throw ConfigError(diagnostics.sorted());
  }

  const Answer& of(const Trial& trial) const {
    return **by_section_.of(trial.sections, [&] { return &answers_.at(text_of(trial.spec.task)).answer; });
  }

 private:
  Answered<Answer> ask(const Trial& trial, bool scan_padding) {
    const auto* task = catalog_.find(Kind::kTask, trial.spec.task.id);
    const auto path = memory_.path_of(task->code_identity(), asked_of(Job::kName, trial, scan_padding));
    Job job;
    job.libraries = {{task->path.string()}, {{task->path.string(), task->content_hash}}}, job.section = trial.spec.task;
    if constexpr (std::is_same_v<Job, PrepareTaskJob>) job.scan_padding = scan_padding;
    const auto read = [&](const json& known) { return answer_from(known, job); };
    if (auto known = memory_.find(path, read)) return {.answer = std::move(*known)};
    auto answered = executors_.ask(job, limit_s_);
    if (answered.answer) memory_.put(path, to_json(*answered.answer));
    if (answered.late) answered.failed += late_;
    return answered;
  }

  static std::string message(const std::string& id, const std::string& why) {
    return why.starts_with(id + ": ") ? "task " + why : fmt::format("task {}: {}", id, why);
  }

  double limit_s_;
  std::string late_;
  const Catalog& catalog_;
  Executors& executors_;
  const TaskMemory& memory_;
  std::map<std::string, Answered<Answer>> answers_;  ///< by text_of
  mutable PerSections<const std::optional<Answer>*> by_section_{{TrialSection::kTask}};
};

/// Promises of plugins. If promises depend on parameters, a worker is queried once for each distinct section.
class PromiseAnswers {
 public:
  PromiseAnswers(const Catalog& catalog, Executors& executors, const TaskMemory& memory, double limit_s)
      : catalog_(catalog), executors_(executors), memory_(memory), limit_s_(limit_s) {}

  /// Throws Error if the plugin's answer fails.
  Capabilities of(const PluginUse& use) {
    if (!use.info->promises_depend) return use.info->capabilities;
    const auto [found, is_new] = answers_.try_emplace(text_of(*use.given));
    if (is_new) found->second = ask(use);
    return found->second;
  }

 private:
  Capabilities ask(const PluginUse& use) {
    PromisesJob job;
    job.kind = use.info->kind, job.section = *use.given;
    std::string code;
    for (const auto& part : used_plugins(use.info->kind, *use.given, catalog_)) {
      job.libraries.paths.push_back(part.info->path.string());
      job.libraries.hashes[part.info->path.string()] = part.info->content_hash;
      code += part.info->code_identity();
    }
    const auto path = memory_.path_of(code, {{"kind", to_text(use.info->kind)}, {"section", to_json(*use.given)}});
    const auto read = [](const json& answer) { return from_json<Promised>(answer).promises; };
    if (const auto known = memory_.find(path, read)) return *known;
    const auto answered = executors_.ask(job, limit_s_);
    if (!answered.answer)
      throw Error(fmt::format("{} {}: its promises cannot be read: {}", to_text(use.info->kind), use.info->id, answered.failed),
                  ExitCode::kPlugin);
    auto remembered = to_json(*answered.answer);
    remembered["files"] = json::object();
    memory_.put(path, remembered);
    return answered.answer->promises;
  }

  const Catalog& catalog_;
  Executors& executors_;
  const TaskMemory& memory_;
  double limit_s_;
  std::map<std::string, Capabilities> answers_;  ///< by text_of
};

/// Plugins that all trials with the same task, model and attention share.
struct PluginsOf {
  std::vector<UsedPlugin> all;
  bool stateful = false;  ///< true if a layer's state is carried through a stream
};

PluginsOf plugins_of(const Trial& trial, const TaskShape& shape, const Catalog& catalog, const PromisesOf& promises) {
  const auto asked = requirements_of(trial.spec, shape);
  const bool hands_on = shape.stream || trial.spec.model.segment > 0;
  std::vector<UsedPlugin> all;
  bool stateful = false;
  std::set<const PluginInfo*> known;
  for (const auto& use : used_plugins(trial.spec, catalog)) {
    const auto& info = *use.info;
    const bool has_state = info.kind == Kind::kAttention && promises(use).stateful;
    stateful = stateful || has_state;
    if (!known.insert(&info).second) continue;
    all.push_back({to_text(info.kind), info.id, info.version, info.code_identity(), info.content_hash, info.path.string()});
    if (info.kind == Kind::kTask) continue;
    all.back().length = asked.length;
    all.back().place =
        info.kind == Kind::kAttention ? place_name(asked.causal || asked.looks_back, hands_on && has_state) : kAnyPlace;
  }
  return {std::move(all), stateful};
}

void throw_if_any(std::vector<std::vector<Diagnostic>> found) {
  std::vector<Diagnostic> all;
  for (auto& some : found) all.insert(all.end(), some.begin(), some.end());
  if (!all.empty()) throw ConfigError(std::move(all));
}

/// Reports tasks that lack examples which a trial needs: a split without examples, or a stream too short for its lanes.
std::vector<Diagnostic> check_sizes(const Study& study, const TaskAnswers<PrepareTaskJob>& prepared) {
  Diagnostics diagnostics(study.overrides);
  for (const auto* first : first_of_each(study.trials, {TrialSection::kTask, TrialSection::kTrain})) {
    const auto& trial = *first;
    const auto& answer = prepared.of(trial);
    const auto& sizes = answer.sizes;
    for (const auto& [split, size] :
         {std::pair("dev", sizes.dev), std::pair("test", sizes.test), std::pair("train", sizes.train)})
      if (size == 0)
        diagnostics.add(where_of(study, trial, {setting::in(section::kTask, split), setting::kTaskPlugin}),
                        fmt::format("task {}: its {} split has no examples", trial.spec.task.id, split));
    const auto lanes = trial.spec.train.batch, segment = answer.length, positions = answer.train_positions;
    if (answer.stream && positions > 0 && positions / lanes < segment)
      diagnostics.add(
          where_of(study, trial, {setting::kBatch, setting::kTaskLength, setting::kTaskPlugin}),
          fmt::format("train.batch = {}: the training split has {} positions, too few for a segment of {} positions in each "
                      "lane; lanes that fit: {}",
                      lanes, positions, segment, positions / segment));
  }
  return diagnostics.sorted();
}

}  // namespace

std::vector<PlannedFile> planned_files(const Trial& trial, TrialSection section) {
  std::vector<PlannedFile> files;
  if (trial.files.empty()) return files;
  const auto values = flatten(trial.resolved());
  for (const auto& [path, digest] : trial.files)
    if (is_below(path, to_text(section)))
      files.push_back({path, std::filesystem::absolute(values.at(path).get<std::string>()).string(), digest});
  return files;
}

void check_tasks(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                 const TaskLimits& limits) {
  TaskAnswers<DescribeTaskJob> described(limits.describe_s, ": its info() must return within milliseconds", catalog, executors,
                                         memory);
  described.ask(study);
  const auto shape = [&](const Trial& trial) {
    stop_if_asked();  // for each trial
    return described.of(trial).shape();
  };
  const auto length = [&](const Trial& trial) { return shape(trial).length; };
  // Opens the device in a child, as a trial does: the driver's list ignores CUDA_VISIBLE_DEVICES and the limits of torch.
  const auto device_refusal = [&](const std::string& device, bool mixed) {
    return executors.ask(OpenDeviceJob{device, mixed}, limits.describe_s).failed;
  };
  PromiseAnswers promised(catalog, executors, memory, limits.describe_s);
  throw_if_any({check_rates(study, catalog, length), check_idle(study, shape), check_lanes(study, shape),
                check_asked(study, catalog, shape, [&](const PluginUse& use) { return promised.of(use); }),
                check_devices(study, device_refusal), check_places(study, catalog, executors, memory, limits.describe_s)});
}

std::vector<PlannedTrial> plan(const Study& study, const Catalog& catalog, Executors& executors, const TaskMemory& memory,
                               const TaskLimits& limits) {
  TaskAnswers<PrepareTaskJob> prepared(std::max(limits.prepare_s, study.timeout_s),
                                       ": if its load() needs longer, raise [experiment] timeout", catalog, executors, memory);
  PromiseAnswers promised(catalog, executors, memory, limits.describe_s);
  const auto promises = [&](const PluginUse& use) { return promised.of(use); };
  std::set<std::string> spare_padding;
  for (const auto* trial : first_of_each(study.trials, {TrialSection::kTask, TrialSection::kAttention}))
    if (refuses_padding(*trial, catalog, promises)) spare_padding.insert(text_of(trial->spec.task));
  prepared.ask(study, spare_padding);
  // check_asked() runs again, because only the examples show padding.
  const auto shape = [&](const Trial& trial) { return prepared.of(trial).shape(); };
  throw_if_any({check_sizes(study, prepared), check_asked(study, catalog, shape, promises)});
  std::vector<PlannedTrial> planned;
  planned.reserve(study.trials.size());
  PerSections<Identity> identities({kAllSections.begin(), kAllSections.end()});
  PerSections<PluginsOf> plugins({TrialSection::kTask, TrialSection::kModel, TrialSection::kAttention});
  for (const auto& trial : study.trials) {
    stop_if_asked();
    const auto& answer = prepared.of(trial);
    const auto& used = plugins.of(trial.sections, [&] { return plugins_of(trial, shape(trial), catalog, promises); });
    PlannedTrial next{
        .trial = &trial,
        .identity = identities.of(
            trial.sections, [&] { return identity_of(trial.spec, trial.files, catalog, answer.digest, ABLATE_TORCH_VERSION); }),
        .plugins = used.all,
        .data_digest = answer.digest,
        .train_size = answer.sizes.train,
        .dev_size = answer.sizes.dev,
        .test_size = answer.sizes.test,
        .length = answer.length,
        .train_length = answer.train_length};
    // Length of a stream's windows. With a layer's state the stream is evaluated in lanes instead.
    if (answer.stream && !used.stateful) next.window_length = answer.length;
    next.identity.settings[setting::kSeed] = trial.spec.seed;
    next.key = next.identity.key();
    planned.push_back(std::move(next));
  }
  return planned;
}

Identity with_values(const PlannedTrial& planned) {
  auto identity = planned.identity;
  identity.values = all_values(planned.trial->resolved(), identity.settings);
  return identity;
}

void forget_tasks(const Study& study, const Catalog& catalog, const TaskMemory& memory) {
  for (const auto* trial : first_of_each(study.trials, {TrialSection::kTask})) {
    const auto* task = catalog.find(Kind::kTask, trial->spec.task.id);
    for (const auto* kind : {DescribeTaskJob::kName, PrepareTaskJob::kName})
      for (const bool scan_padding : {false, true})
        memory.forget(memory.path_of(task->code_identity(), asked_of(kind, *trial, scan_padding)));
  }
}

}  // namespace ablate
