#include "core/shared/jobs.h"

#include <limits>

#include "core/shared/message_json.h"
#include "core/shared/sizes_job.h"
#include "core/shared/task_info.h"

namespace ablate {

using nlohmann::json;

template <>
struct TextOf<Capabilities> {
  static constexpr const char* expected = "the promises of a plugin";
  static json to(const Capabilities& promises) { return to_json(promises); }
  static Capabilities from(const json& value) { return capabilities_from_json(value); }
};

template <>
struct TextOf<Kind> {
  static inline const std::string expected = kind_names(true);
  static json to(Kind kind) { return to_text(kind); }
  static Kind from(const json& value) {
    if (const auto kind = value.is_string() ? part_kind_of_name(value.get<std::string>()) : std::nullopt) return *kind;
    throw Error("it is another kind of plugin");
  }
};

template <>
struct TextOf<TrialSpec> {
  static constexpr const char* expected = "a trial's document";
  static json to(const TrialSpec& trial) { return to_json(trial); }
  static TrialSpec from(const json& value) { return trial_from_json(value); }
};

void fields(auto& f, Is<InspectJob> auto& m) { f("path", m.path); }

void fields(auto& f, Is<DescribeTaskJob> auto& m) {
  fields(f, m.libraries);
  f("section", m.section);
}

void fields(auto& f, Is<DescribedTask> auto& m) {
  f("length", m.length, 1, kMostOfATask);
  f("train_length", m.train_length, 1, kMostOfATask);
  f("causal", m.causal);
  f("holes", m.holes);
  f("pooled", m.pooled);
  f("stream", m.stream);
  f("files", m.files);
}

void fields(auto& f, Is<PrepareTaskJob> auto& m) {
  fields(f, m.libraries);
  f("section", m.section);
  f("scan_padding", m.scan_padding);
}

void fields(auto& f, Is<SplitSizes> auto& m) {
  f("train", m.train, 0, kMostOfATask);
  f("dev", m.dev, 0, kMostOfATask);
  f("test", m.test, 0, kMostOfATask);
}

template <Is<PreparedTask> M>
void fields(auto& f, M& m) {
  fields(f, static_cast<std::conditional_t<std::is_const_v<M>, const DescribedTask&, DescribedTask&>>(m));
  f("digest", m.digest);
  f("train_positions", m.train_positions, 0, kMostOfATask);
  f("sizes", m.sizes);
  f("padded", m.padded);
}

void fields(auto& f, Is<PromisesJob> auto& m) {
  fields(f, m.libraries);
  f("kind", m.kind);
  f("section", m.section);
}

void fields(auto& f, Is<Promised> auto& m) { f("promises", m.promises); }

void fields(auto& f, Is<TryPlacesJob::Place> auto& m) { f("trial", m.trial); }

void fields(auto& f, Is<TryPlacesJob> auto& m) {
  fields(f, m.libraries);
  f("places", m.places);
}

void fields(auto& f, Is<TriedPlaces::Refused> auto& m) {
  f("place", m.place);
  f("path", m.path);
  f("why", m.why);
}

void fields(auto& f, Is<TriedPlaces> auto& m) {
  f("files", m.files);
  f("refused", m.refused);
}

void fields(auto& f, Is<CountSizesJob> auto& m) {
  fields(f, m.libraries);
  f("models", m.models);
}

void fields(auto& f, Is<CountedSizes::Sizes> auto& m) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  f("parameters", m.parameters, 0, kMost);
  f("state_bytes", m.state_bytes, 0, kMost);
  f("refused", m.refused);
}

void fields(auto& f, Is<CountedSizes> auto& m) {
  f("files", m.files);
  f("sizes", m.sizes);
}

void fields(auto& f, Is<OpenDeviceJob> auto& m) { f("device", m.device), f("mixed", m.mixed); }

void fields(auto& f, Is<OpenedDevice> auto& m) { f("opened", m.opened); }

void fields(auto& f, Is<CheckpointPlan> auto& m) {
  f("folder", m.folder);
  f("owner", m.owner);
  f("fence", m.fence);
  f("key", m.key);
  f("every_s", m.every_s);
  f("about", m.about);
  fields(f, m.libraries);
}

void fields(auto& f, Is<TrialJob> auto& m) {
  f("resolved", m.trial);
  f("files", m.files);
  f("weights_file", m.weights_file);
  f("checkpoint", m.checkpoint);
}

void fields(auto& f, Is<CheckJob> auto& m) {
  f("library", m.library);
  f("parts", m.parts);
  f("hashes", m.hashes);
  f("parameters", m.parameters);
  f("scratch", m.scratch);
  f("device", m.device);
  f("quick", m.quick);
  f("timed", m.timed);
  f("only", m.only);
  f("length", m.length);
}

void fields(auto& f, Is<CheckBegun> auto& m) {
  f("begin", m.begin);
  f("on", m.on);
  f("with", m.with);
}

void fields(auto& f, Is<CheckResult> auto& m) {
  f("check", m.check);
  f("on", m.on);
  f("verdict", m.verdict);
  f("found", m.found);
  f("error", m.error);
  f("tolerance", m.tolerance);
  f("why", m.why);
  f("part", m.part);
}

void fields(auto& f, Is<CheckRefused> auto& m) { f("refused", m.refused); }

void fields(auto& f, Is<CheckEnded> auto& m) { f("lengths", m.lengths); }

void fields(auto& f, Is<AuditJob> auto& m) {
  fields(f, m.libraries);
  f("section", m.section);
  f("digest", m.digest);
  f("scratch", m.scratch);
}

void fields(auto& f, Is<Failed> auto& m) {
  f("failed", m.failed);
  f("fault", m.fault);
  f("ran_out_of", m.ran_out_of);
}

void fields(auto& f, Is<Crashed> auto& m) { f("crashed", m.crashed); }

TaskShape DescribedTask::shape() const {
  return {.length = length, .causal = causal, .holes = holes, .pooled = pooled, .stream = stream};
}

TaskShape PreparedTask::shape() const {
  auto shape = DescribedTask::shape();
  shape.padded = padded.value_or(false);
  return shape;
}

/// The answer is the library's description itself, or the reason why there is none.
template <>
json to_json(const Inspected& message) {
  return message.info ? *message.info : json{{"refusal", message.refusal}};
}

template <>
Inspected from_json(const json& text) {
  Inspected message;
  FieldReader reader(text, Inspected::kName);
  if (text.contains("refusal"))
    reader("refusal", message.refusal);
  else
    message.info = text;
  return message;
}

namespace {

[[maybe_unused, gnu::used]] constexpr auto kAllJobs =
    json_of<PlannedFile, InspectJob, Inspected, DescribeTaskJob, DescribedTask, PrepareTaskJob, PreparedTask, PromisesJob,
            Promised, TryPlacesJob, TriedPlaces, CountSizesJob, CountedSizes, OpenDeviceJob, OpenedDevice, CheckpointPlan,
            TrialJob, CheckJob, CheckBegun, CheckResult, CheckRefused, CheckEnded, AuditJob, Failed, Crashed>();

}  // namespace

CheckSaid check_said_from_json(const json& text) {
  if (text.contains("begin")) return from_json<CheckBegun>(text);
  if (text.contains("refused")) return from_json<CheckRefused>(text);
  if (text.contains("lengths")) return from_json<CheckEnded>(text);
  return from_json<CheckResult>(text);
}

DescribedTask answer_from(const json& text, const DescribeTaskJob&) { return from_json<DescribedTask>(text); }

PreparedTask answer_from(const json& text, const PrepareTaskJob& job) {
  auto answer = from_json<PreparedTask>(text);
  if (answer.padded.has_value() != job.scan_padding)
    throw BadMessage(std::string(PreparedTask::kName) + ": padded: found " + (answer.padded ? "it" : "nothing") +
                     ", expected " + (job.scan_padding ? "true or false" : "nothing"));
  return answer;
}

}  // namespace ablate
