// Messages between host and worker: each passes through a pipe unchanged, and messages of other shapes are refused.
#include <unistd.h>

#include <set>

#include "core/shared/pipe.h"
#include "core/shared/sections.h"
#include "core/shared/sizes_job.h"
#include "tests/support/catch.h"

using namespace ablate;
using nlohmann::json;

namespace {

/// Sends a message through a pipe, as one line.
json through_pipe(const json& message) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto line = message.dump() + "\n";
  REQUIRE(write(ends[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  close(ends[1]);
  std::string read_back;
  char chunk[4096];
  for (ssize_t n = 0; (n = read(ends[0], chunk, sizeof(chunk))) > 0;) read_back.append(chunk, static_cast<std::size_t>(n));
  close(ends[0]);
  return json::parse(read_back);
}

TrialSpec trial() {
  json model, train;
  for (const auto& parameter : model_parameters()) model[parameter.name] = parameter.default_value;
  for (const auto& parameter : train_parameters()) train[parameter.name] = parameter.default_value;
  return {.task = {.id = "recall", .values = {{"length", 64}}},
          .model = model_from_json(model),
          .attention = {.all = {{.id = "softmax", .values = {{"heads", 2}}}}},
          .train = train_from_json(train),
          .seed = 7};
}

const PluginSpec kSection{.id = "mine", .values = {{"rate", 0.25}}, .parts = {{"part", {.all = {{.id = "linear"}}}}}};
const Libraries kLibraries{.paths = {"/a.so", "/b.so"}, .hashes = {{"/a.so", "5ha"}}};
const std::vector<PlannedFile> kFiles{{"attention.table", "/a.npy", "d1"}, {"task.data", "/b.npy", "d2"}};

const CheckpointPlan kCheckpoint{"/a/b", "0wner", 7, "key", 2.5, {{"settings", {{"seed", 1}}}}, kLibraries};

DescribedTask described() {
  return {.length = 64,
          .train_length = 32,
          .causal = true,
          .holes = true,
          .pooled = true,
          .stream = true,
          .files = {{{"/data", "stamp"}}}};
}

PreparedTask prepared() {
  PreparedTask task;
  static_cast<DescribedTask&>(task) = described();
  task.digest = "d", task.train_positions = 9, task.sizes = {1, 2, 3}, task.padded = true;
  return task;
}

LoadCommand load() {
  LoadCommand command;
  command.libraries = kLibraries, command.tasks = {{kSection, "d", kFiles}}, command.cuda = true;
  return command;
}

/// A sample of each message. No member has its default value.
const std::tuple kSamples{
    kFiles[0],
    InspectJob{"/a.so"},
    Inspected{.info = json{{"id", "mine"}}},
    DescribeTaskJob{kLibraries, kSection},
    described(),
    PrepareTaskJob{kLibraries, kSection, true},
    prepared(),
    PromisesJob{kLibraries, Kind::kCompression, kSection},
    Promised{{.causal = true, .bidirectional = false, .length_multiple = 8}},
    TryPlacesJob{kLibraries, {{trial()}}},
    TriedPlaces{{{"/data", "stamp"}}, {{3, "attention", "heads = 3"}}},
    CountSizesJob{kLibraries, {trial()}},
    CountedSizes{{{"/data", "stamp"}}, {{std::int64_t{1} << 40, 512, "heads = 3"}}},
    OpenDeviceJob{"cuda:1", true},
    OpenedDevice{true},
    kCheckpoint,
    TrialJob{trial(), kFiles, "/a/b.safetensors", kCheckpoint},
    CheckJob{"/a.so", {"/b.so"}, {{"/a.so", "5ha"}}, {{"heads", 2}}, "/tmp", "cuda", true, true, {"padding"}, 4500},
    CheckBegun{"padding", "(8, 64)", {"linear"}},
    CheckResult{"padding", "(8, 64)", "failed", "off", 0.5, 1e-300, "rounding", "linear"},
    CheckRefused{"no such check"},
    CheckEnded{{{"causal", 2113}}},
    AuditJob{kLibraries, kSection, "d", "/tmp"},
    Failed{"why", true, "the host's memory"},
    Crashed{"f() in x.so"},
    load(),
    StartCommand{3, "trial", {{"a", 1}}, 2.5, "/a/b.txt", std::int64_t{1} << 40, {0, 2}},
    KillCommand{3},
    SaveCommand{3},
    PingCommand{},
    ReadyEvent{{{"host", "h"}}, 12, "word", "build"},
    LoadedEvent{},
    PongEvent{},
    RefusedEvent{"why", ExitCode::kUsage, true},
    SaidEvent{3, {{"step", 1}}},
    EndedEvent{3, 9, 0.1, 0.2, std::int64_t{1} << 40, "tail", true, "word", "memory", 9000, "full", "out of it"},
    SizeEvent{3, std::int64_t{1} << 40},
    NotStartedEvent{3, "no process"}};

struct Any {
  template <class T>
  operator T() const;  // converts to a member of any type
};

/// Returns the number of an aggregate's members.
template <class T, class... Known>
consteval std::size_t members() {
  if constexpr (requires { T{Known{}..., Any{}}; })
    return members<T, Known..., Any>();
  else
    return sizeof...(Known);
}

template <class M>
bool same(const M& one, const M& other) {
  if constexpr (requires { one == other; })
    return one == other;
  else
    return to_json(one) == to_json(other);
}

/// Returns how many fields a message has in addition to one field for each member.
template <class M>
std::size_t fields_more() {
  if constexpr (requires(M m) { m.libraries; }) return 1;   // {"libraries", "hashes"}
  if constexpr (std::is_same_v<M, PreparedTask>) return 6;  // fields of its base, DescribedTask
  return 0;
}

template <class M>
void check_sample(const M& sample) {
  INFO(M::kName << ": " << to_json(sample).dump());
  const auto arrived = through_pipe(to_json(sample));
  CHECK(same(from_json<M>(arrived), sample));
  CHECK(to_json(from_json<M>(arrived)) == to_json(sample));
  if constexpr (std::is_same_v<M, Inspected>) return;  // contains a library's description, with any fields
  // A member without a field would be lost silently.
  CHECK(arrived.size() == members<M>() + fields_more<M>());
  json of_default = json::object();
  if constexpr (!std::is_same_v<M, TrialJob>) of_default = to_json(M());  // a trial without an attention has no JSON
  for (const auto& [name, value] : arrived.items()) {
    INFO(name);
    CHECK((!of_default.contains(name) || of_default.at(name) != value));
    for (const auto& wrong : {json(), json(3.5), json("x"), json::array({json::array()}), json()}) {
      auto bad = arrived;
      const bool missing = wrong.is_null();
      if (missing)
        bad.erase(name);
      else
        bad[name] = wrong;
      if (missing && (name == "files" || name == "padded") && std::is_base_of_v<DescribedTask, M>) continue;
      if (missing && (name == "checkpoint" || name == "ran_out_of")) continue;
      const bool fits = (wrong.is_string() && value.is_string()) || (wrong.is_number() && value.is_number_float());
      if (fits && !(std::is_same_v<M, PromisesJob> && name == "kind")) continue;
      CHECK_THROWS_MATCHES(from_json<M>(bad), BadMessage,
                           Catch::Predicate<BadMessage>(
                               [&, key = name](const BadMessage& error) {
                                 const std::string what = error.what();
                                 return what.find(M::kName) != std::string::npos && what.find(key) != std::string::npos &&
                                        what.find(": found ") != std::string::npos &&
                                        what.find(", expected ") != std::string::npos;
                               },
                               "names message, field, what was found and expected"));
    }
  }
  for (const auto& none : {json(), json(3), json::array()}) CHECK_THROWS_AS(from_json<M>(none), BadMessage);
}

}  // namespace

TEST_CASE("each job and answer passes through a pipe without loss, and any other shape is refused") {
  std::apply([](const auto&... sample) { (check_sample(sample), ...); }, kSamples);
}

TEST_CASE("a library's refusal is sent as an answer") {
  const auto back = from_json<Inspected>(through_pipe(to_json(Inspected{.refusal = "a default out of its range"})));
  CHECK_FALSE(back.info);
  CHECK(back.refusal == "a default out of its range");
}

TEST_CASE("commands and events state their kind") {
  const std::vector<Command> commands{load(), StartCommand{3, "trial", {{"a", 1}}, 2.5}, KillCommand{3}, SaveCommand{3},
                                      PingCommand()};
  std::set<std::size_t> seen;
  for (const auto& command : commands) {
    seen.insert(command.index());
    CHECK(command_from_json(through_pipe(command_to_json(command))) == command);
  }
  CHECK(seen.size() == std::variant_size_v<Command>);
  seen.clear();
  const std::vector<Event> events{ReadyEvent{{{"host", "h"}}, 12, "word", "build"},
                                  LoadedEvent(),
                                  PongEvent(),
                                  RefusedEvent{"why", ExitCode::kUsage, true},
                                  SaidEvent{3, {{"step", 1}}},
                                  SizeEvent{3, 4096},
                                  EndedEvent{3, 9, 0.1, 0.2, 4096, "tail", true, "word", "memory"},
                                  NotStartedEvent{3, "no process"}};
  for (const auto& event : events) {
    seen.insert(event.index());
    CHECK(event_from_json(through_pipe(event_to_json(event))) == event);
  }
  CHECK(seen.size() == std::variant_size_v<Event>);
  CHECK_THROWS_WITH(command_from_json({{"do", "dance"}}), "do: found dance, expected a name that this version knows");
  CHECK_THROWS_WITH(event_from_json({{"event", 3}}), "a message: event: found 3, expected a text");
}

TEST_CASE("a trial's messages pass through a pipe unchanged, NaN included") {
  const MetricInfo metric{"dev/accuracy", "%", "max", "of answers"};
  const CurvePart curve{{{"train/loss", 20, 0.7}}, {metric}};
  const Progress progress{.step = 2, .steps = 9, .loss = 0.5, .dev_metric = metric, .dev = 71.5, .curve = curve};
  CHECK(std::get<Progress>(trial_said_from_json(through_pipe(to_json(progress)))) == progress);
  const TrialResult result{
      .values = {{"test/accuracy", 81.25}}, .main_metric = "test/accuracy", .metrics = {metric}, .curve = curve};
  CHECK(std::get<TrialResult>(trial_said_from_json(through_pipe(to_json(result)))) == result);
  const Resumed resumed{7, "0wner", {{{"kernels", "avx2"}}}, 1.5, 2.5, std::int64_t{1} << 40, {"one is damaged"}};
  CHECK(std::get<Resumed>(trial_said_from_json(through_pipe(to_json(resumed)))) == resumed);
  const Saved saved{7, "No space left on device"};
  CHECK(std::get<Saved>(trial_said_from_json(through_pipe(to_json(saved)))) == saved);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto first = std::get<Progress>(trial_said_from_json(
      through_pipe(to_json(Progress{.steps = 9, .loss = nan, .dev = nan, .curve = {{{"a", 1, nan}}, {}}}))));
  CHECK(std::isnan(first.loss));
  CHECK(std::isnan(first.dev));
  CHECK(std::isnan(first.curve.points.at(0).value));
  CHECK_THROWS_WITH(trial_said_from_json({{"steps", 3}}), "a trial's message: step: found nothing, expected a whole number");
}
