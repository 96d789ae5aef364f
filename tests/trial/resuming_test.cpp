// A trial stops at a step and resumes in another process, from a file. All its reports and measurements except times, and the
// best weights, equal an uninterrupted run to the last bit.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "core/registry/plugin_info.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/training/checkpoint_file.h"
#include "core/util/error.h"
#include "core/util/sha256.h"
#include "tests/support/temporary.h"
#include "tests/trial/stream.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Returns the result of work in a new process, which has no tensor, generator or thread of another process.
json in_a_process(const TemporaryFolder& folder, const std::function<json()>& work) {
  const auto pid = fork();
  if (pid == 0) {
    json answer;
    try {
      answer = work();
    } catch (const std::exception& error) {
      answer = {{"failed", error.what()}};
    }
    const auto bytes = json::to_cbor(answer);
    folder.write("answer", std::string(bytes.begin(), bytes.end()));
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  REQUIRE(status == 0);
  auto answer = json::from_cbor(read_text(folder / "answer"));
  if (answer.contains("failed")) FAIL(answer.at("failed").get<std::string>());
  return answer;
}

/// Ids at every position, and a class that depends on their sum.
class Sums final : public Majority {
 public:
  explicit Sums(std::int64_t length) : length_(length) {}
  TaskInfo info() override { return {.fields = {{"token", 7}}, .length = length_, .classes = 3}; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      std::int64_t sum = 0;
      for (std::size_t j = 0; j < static_cast<std::size_t>(length_); ++j) {
        const auto at = i * static_cast<std::size_t>(length_) + j;
        batch.present[0][at] = 1;
        batch.ids[0][at] = static_cast<std::int64_t>(random() % 7);
        sum += batch.ids[0][at];
      }
      batch.targets[i] = sum % 3;
    }
  }

 private:
  std::int64_t length_;
};

/// True if a metric depends on the clock and so differs between runs.
bool is_time(const std::string& name) {
  for (const char* end : {"_time", "step_spread", "examples_per_second"})
    if (name.ends_with(end)) return true;
  return false;
}

/// Reports of a run so far, in order.
struct Reports {
  json points = json::array(), metrics = json::array();

  void add(const CurvePart& part) {
    for (const auto& [metric, step, value] : part.points) points.push_back({metric, step, value});
    for (const auto& metric : part.metrics) metrics.push_back(metric);
  }
  json as_json() const { return {{"points", points}, {"metrics", metrics}}; }
};

json finished(TrialRun& run, Reports& reports, const std::filesystem::path& weights) {
  const auto result = run.result();
  json observed = run.save().training.numbers.at("observers");
  reports.add(result.curve);
  for (const auto& metric : result.metrics) reports.metrics.push_back(metric);
  auto all = reports.as_json();
  for (const auto& [name, value] : result.values)
    if (!is_time(name)) all["values"][name] = value;
  all["times"] = std::count_if(result.values.begin(), result.values.end(), [](const auto& one) { return is_time(one.first); });
  for (const auto& times : observed.at("step_times")) all["timed"].push_back(times.size());
  run.write_weights(weights);
  all["weights"] = sha256_file(weights);
  return all;
}

const json kAbout{{"settings", {{"seed", 1}}}, {"basis", {{"data", "d"}}}};

/// @param stop number of steps in the first process
void check_resumed(Task& task, const json& resolved, std::int64_t stop) {
  const TemporaryFolder folder;
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  const auto in_run = [&](const std::function<json(TrialRun&, Reports&)>& work) {
    return in_a_process(folder, [&] {
      count_tensor_memory();
      Reports reports;
      TrialRun run(parts, [&](const Progress& now) { reports.add(now.curve); });
      return work(run, reports);
    });
  };
  const auto whole = in_run([&](TrialRun& run, Reports& reports) { return finished(run, reports, folder / "weights"); });
  in_run([&](TrialRun& run, Reports&) -> json {
    for (std::int64_t step = 0; step < stop; ++step) run.advance();
    write_checkpoint(folder / "c", kAbout, run.save());
    return json::object();
  });
  const auto rest = in_run([&](TrialRun& run, Reports& reports) {
    run.load(read_checkpoint(folder / "c", kAbout).state);
    if (run.steps_done() != stop) throw Error("another step");
    return finished(run, reports, folder / "weights");
  });
  CHECK(whole.at("values").size() >= 8);
  CHECK(whole.at("times") == 6);
  CHECK(whole.at("timed") == json(std::vector(4, parts.trial.train.steps)));
  CHECK(rest == whole);  // the second process also has the reports of the first
}

json small(json train, const json& attention, const json& model = json::object()) {
  train.update({{"batch", 4}, {"warmup", 2}, {"clip", 1.0}, {"weight_decay", 0.01}});
  auto resolved = resolved_trial(train, attention);
  resolved["model"].update(model);
  return resolved;
}

/// Returns a section of the attention with simple parts.
json section_of(const PluginInfo& info, const char* compression) {
  auto parameters = json::object();
  for (const auto& parameter : info.parameters)
    if (const auto kind = parameter.plugin_kind()) {
      const json part{{"plugin", *kind == Kind::kAttention ? "softmax" : compression}};
      parameters[parameter.name] = parameter.type == ParameterType::kPlugins ? json{part, part} : part;
    }
  return plugin(info.id, parameters);
}

/// A stop after step 3 is between two evaluations, when best weights are already stored.
const json kFewSteps{{"steps", 6}, {"evaluate_every", 2}, {"evaluate_batches", 4}, {"test_batches", 4}};

}  // namespace

TEST_CASE("training with every attention resumes in another process") {
  int attentions = 0, streams = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ABLATE_BUILD_DIR "/lib/ablate/plugins")) {
    if (entry.path().extension() != ".so") continue;
    const auto info = describe(load_library(entry.path()));
    if (info.kind != Kind::kAttention) continue;
    INFO(info.id);
    auto section = section_of(info, "segment-mean");
    const auto promises = promises_of(Kind::kAttention, plugin_from_json(section), find_plugin);
    const auto length = (24 / promises.length_multiple + 1) * promises.length_multiple;
    const json model{{"attention_dropout", promises.weight_dropout ? 0.1 : 0.0}};
    Text stream(4 * 5 * length / 2, length);
    Sums examples(length);
    Task& task = promises.causal ? static_cast<Task&>(stream) : examples;
    const auto refused = [&] {
      const TrialParts parts{trial_from_json(small(kFewSteps, section, model)), task, find_plugin};
      return in_a_process(TemporaryFolder(), [&]() -> json {
        try {
          const TrialRun made(parts, [](const Progress&) {});
          return {{"refused", false}};
        } catch (const std::exception&) {
          return {{"refused", true}};
        }
      });
    };
    if (refused().at("refused") == true) section = section_of(info, "rbf");  // rbf has promises that segment-mean lacks
    check_resumed(task, small(kFewSteps, section, model), 3);
    ++attentions, streams += promises.causal ? 1 : 0;
  }
  CHECK(attentions > 25);
  CHECK(streams > 10);
}

TEST_CASE("training resumes in the middle of a loss window, of an epoch, and before an evaluation") {
  Majority task;
  // A window of the loss has three steps, and an epoch has a hundred steps.
  const json train{{"steps", 430}, {"evaluate_every", 120}};
  for (const std::int64_t stop : {1, 119, 331}) {
    INFO(stop);
    check_resumed(task, small(train, plugin("softmax"), {{"layers", 1}}), stop);
  }
}

TEST_CASE("training resumes with redrawn vectors, in half precision, with another optimiser, with accumulated batches") {
  Majority examples;
  Text stream(200, 8);
  const auto with = [](json changes) {
    changes.update(kFewSteps);
    return changes;
  };
  const auto redrawn = plugin("performer", {{"redraw", 2}});
  check_resumed(examples, small(kFewSteps, redrawn), 3);
  check_resumed(stream, small(kFewSteps, redrawn), 3);
  check_resumed(examples, small(with({{"dtype", "bfloat16"}}), plugin("softmax")), 3);
  check_resumed(examples, small(with({{"optimizer", "sgd"}}), plugin("softmax")), 3);
  check_resumed(examples, small(with({{"accumulate", 2}, {"shuffle_labels", true}, {"beta1_low", 0.5}}), plugin("linear")), 3);
}

TEST_CASE("peak memory includes the steps before a stop") {
  Majority task;
  const TrialParts parts{trial_from_json(small(kFewSteps, plugin("linear"))), task, find_plugin};
  const auto values = in_a_process(TemporaryFolder(), [&]() -> json {
    count_tensor_memory();
    const Report deaf = [](const Progress&) {};
    TrialRun first(parts, deaf), second(parts, deaf);
    first.advance();
    auto state = first.save();
    state.training.numbers["observers"]["peak_memory"] = std::int64_t{1} << 40;
    second.load(state);
    return second.result().values;
  });
  CHECK(values.at("memory/peak_tensor") == 1024.0 * 1024.0);
}
