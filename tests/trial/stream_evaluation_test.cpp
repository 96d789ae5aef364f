// Evaluation of a stream: by lanes with state, by windows without state; every position once.
#include <ATen/Context.h>

#include "ablate/word_count.h"
#include "core/trial/objectives/objective.h"
#include "core/trial/training/evaluation.h"
#include "tests/trial/stream.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Objective that records each target's position in the text and its column in the row.
class Witness final : public TrialObjective {
 public:
  explicit Witness(const TaskInfo& info) : inner_(make_objective(info)) {}
  std::shared_ptr<Head> make_head(const ModelOptions& options, const Tensor& table, const Generator& generator) const override {
    return inner_->make_head(options, table, generator);
  }
  void score(const Answers& answers, const Batch& batch, const std::vector<std::string>& names, Scores& scores) const override {
    const auto places = batch.fields[1].flatten().index_select(0, batch.asked);
    for (std::int64_t i = 0; i < batch.asked.size(0); ++i)
      asked.emplace_back(places[i].item<std::int64_t>(), batch.asked[i].item<std::int64_t>() % batch.fields[0].size(1));
    inner_->score(answers, batch, names, scores);
  }
  std::vector<Scored> metrics(const Score& score) const override { return inner_->metrics(score); }

  mutable std::vector<std::pair<std::int64_t, std::int64_t>> asked;

 private:
  std::unique_ptr<TrialObjective> inner_;
};

struct Setting {
  json attention;
  std::string positions = "none";
  std::int64_t layers = 1;
  bool carries = true;
};

struct Evaluated {
  Evaluation scores;
  std::vector<std::pair<std::int64_t, std::int64_t>> asked;
  bool stateful;
};

Evaluated evaluated(Text&& task, const Setting& setting, EvaluationPlan plan) {
  plan.split = Split::kDev;
  const auto info = task.info();
  const auto given = model_from_json(
      section(model_parameters(),
              {{"d_model", 8}, {"hidden", 8}, {"dropout", 0.0}, {"layers", setting.layers}, {"positions", setting.positions}}));
  const Witness objective(info);
  Model model(
      model_options(info, given), plugins_from_json(setting.attention), setting.carries, find_plugin,
      [&](const auto& options, const auto& table, const auto& random) { return objective.make_head(options, table, random); },
      make_generator(1));
  {
    // Larger weights, so that the context matters.
    const NoGradGuard no_grad;
    for (const auto& entry : model.parameters()) Tensor(entry.tensor).mul_(4);
  }
  move_to(model, at::kCPU, at::kDouble);
  const BatchReader reader(task, info, at::kCPU);
  auto scores = evaluate(model, objective, reader, task, info, plan, at::globalContext().defaultGenerator(at::kCPU));
  return {std::move(scores), objective.asked, model.stateful()};
}

/// Checks that the targets are positions 0 to size - 1, each once.
void check_each_once(std::vector<std::pair<std::int64_t, std::int64_t>> asked, std::int64_t size) {
  std::sort(asked.begin(), asked.end());
  REQUIRE(static_cast<std::int64_t>(asked.size()) == size);
  bool right = true;
  for (std::int64_t i = 0; i < size; ++i) right = right && asked[static_cast<std::size_t>(i)].first == i;
  CHECK(right);
}

/// Every third token ends a word.
class Words final : public Text, public WordCount {
 public:
  using Text::Text;
  std::int64_t words(Split, std::int64_t places) const override { return places / 3; }
};

}  // namespace

TEST_CASE("a text that counts its words has a perplexity per word, over the part that was read") {
  for (const char* attention : {"linear", "softmax"})
    for (const std::int64_t size : {2, 29, 64})
      for (const std::int64_t batches : {0, 2}) {
        INFO(attention << ", " << size << " places, batches " << batches);
        const auto got = evaluated(Words(size, 4), {plugin(attention)}, {.batch = 3, .batches = batches, .stride = 2}).scores;
        const auto read = batches == 0 ? size : std::min(size, batches * 3 * 4);
        const auto found = std::ranges::find(got.metrics, "perplexity", [](const auto& scored) { return scored.info.name; });
        CHECK((found != got.metrics.end()) == (size >= 3));
        CHECK(got.metrics.front().info.name == "bits_per_byte");  // still the first metric, which selects the best weights
        if (found == got.metrics.end()) continue;
        CHECK(found->value == Approx(std::exp(got.loss * static_cast<double>(read) / static_cast<double>(read / 3))));
        CHECK(found->info.direction == "min");
      }
  for (const auto& scored : evaluated({29, 4}, {plugin("linear")}, {.batch = 3}).scores.metrics)
    CHECK(scored.info.name != "perplexity");
}

TEST_CASE("evaluation by lanes scores every position once, and a limit selects the first positions") {
  for (const std::int64_t size : {1, 6, 7, 29, 64})
    for (const std::int64_t length : {1, 4, 7})
      for (const std::int64_t batch : {1, 3, 16})
        for (const std::int64_t batches : {0, 1, 2}) {
          INFO(size << " places, segments of " << length << ", batch " << batch << ", batches " << batches);
          const auto got = evaluated({size, length}, {plugin("linear")}, {.batch = batch, .batches = batches});
          CHECK(got.stateful);
          check_each_once(got.asked, batches == 0 ? size : std::min(size, batches * batch * length));
        }
}

TEST_CASE("evaluation by windows scores every position once, with its context, and a limit selects the first positions") {
  for (const std::int64_t size : {1, 6, 7, 29, 64})
    for (const std::int64_t length : {1, 4, 7})
      for (const std::int64_t stride : {0, 1, 3, 4, 9})
        for (const std::int64_t batches : {0, 1, 2}) {
          INFO(size << " places, windows of " << length << ", stride " << stride << ", batches " << batches);
          const auto got = evaluated({size, length}, {plugin("softmax")}, {.batch = 3, .batches = batches, .stride = stride});
          CHECK_FALSE(got.stateful);
          check_each_once(got.asked, batches == 0 ? size : std::min(size, batches * 3 * length));
          const auto moved = stride == 0 ? length : std::min(stride, length);
          for (const auto& [place, column] : got.asked) CHECK(column >= std::min(place, length - moved));
        }
}

TEST_CASE("with a state, segments equal one long pass") {
  const std::int64_t size = 61;
  for (const auto& [id, parameters] :
       {std::pair<const char*, json>{"linear", json::object()}, {"transformer-xl", {{"memory", 80}}}})
    for (const char* positions : {"none", "rotary"}) {
      if (std::string(id) == "transformer-xl" && std::string(positions) == "rotary") continue;
      INFO(id << ", " << positions);
      const Setting setting{plugin(id, parameters), positions, 2};
      const auto whole = evaluated({size, size}, setting, {.batch = 1}).scores.loss;
      for (const std::int64_t length : {1, 8, 20})
        CHECK(evaluated({size, length}, setting, {.batch = 1}).scores.loss == Approx(whole).epsilon(1e-5));
      auto without = setting;
      without.carries = false;
      CHECK(evaluated({size, 8}, without, {.batch = 1}).scores.loss != Approx(whole).epsilon(1e-3));
      // Three lanes of 21, 21 and 19 positions, each a separate text.
      double sum = 0;
      for (const std::int64_t first : {0, 21, 42}) {
        const auto part = std::min<std::int64_t>(21, size - first);
        sum += static_cast<double>(part) * evaluated({part, part, first}, setting, {.batch = 1}).scores.loss;
      }
      CHECK(evaluated({size, 8}, setting, {.batch = 3}).scores.loss == Approx(sum / static_cast<double>(size)).epsilon(1e-5));
    }
}

TEST_CASE("without a state, a window that moves by one position gives each position its own context") {
  const Setting setting{plugin("softmax"), "rotary", 2};
  double sum = 0;
  for (std::int64_t place = 0; place < 20; ++place) {
    const auto first = std::max<std::int64_t>(0, place - 5), n = place - first + 1;
    const auto own = evaluated({n, n, first}, setting, {.batch = 1}).scores.loss;
    const auto before =
        n > 1 ? evaluated({n - 1, n - 1, first}, setting, {.batch = 1}).scores.loss * static_cast<double>(n - 1) : 0.0;
    sum += own * static_cast<double>(n) - before;
  }
  CHECK(evaluated({20, 6}, setting, {.batch = 4, .stride = 1}).scores.loss == Approx(sum / 20).epsilon(1e-5));
}
