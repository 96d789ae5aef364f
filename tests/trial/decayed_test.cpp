// Names of the parameters without weight decay, for each choice of train.decayed, and the change of parameters in a step.
#include <map>
#include <set>

#include "core/trial/training/optimizer.h"
#include "core/trial/training/training.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Majority with two numbers at each position.
class WithReals final : public Majority {
 public:
  TaskInfo info() override { return {.fields = {{"token", 3}, {"amount", 0, 2}}, .length = 12, .classes = 2}; }
};

TrialParts parts_of(Task& task, const json& train, const json& attention, const json& model = json::object()) {
  auto resolved = resolved_trial({{"weight_decay", 0.5}}, attention);
  resolved["train"].update(train), resolved["model"].update(model);
  return {trial_from_json(resolved), task, find_plugin};
}

}  // namespace

TEST_CASE("only matrices of model and attention decay: no norm, no bias, no embedding") {
  WithReals task;
  const auto parts = parts_of(task, json::object(), plugin("transformer-xl"), {{"layers", 1}, {"causal", true}});
  Training training(parts, at::kCPU);
  const auto& model = training.model();
  std::set<std::string> with, without;
  for (const auto& [name, tensor, kept] : decayed(model.parameters(), model.embeddings(), "matrices"))
    (kept.decay ? with : without).insert(name);
  const std::string attention = "layer1_attention.", part = "layer1.feed_forward.";
  CHECK(with == std::set<std::string>{attention + "query.weight", attention + "key.weight", attention + "value.weight",
                                      attention + "output.weight", attention + "relative.weight", part + "expand.weight",
                                      part + "contract.weight", "field_amount.weight", "classifier.outer.weight"});
  CHECK(without == std::set<std::string>{"positions", "field_token.weight", "field_amount.bias", "layer1.norm1.weight",
                                         "layer1.norm1.bias", "layer1.norm2.weight", "layer1.norm2.bias", part + "expand.bias",
                                         part + "contract.bias", "norm.weight", "norm.bias", attention + "query.bias",
                                         attention + "key.bias", attention + "value.bias", attention + "output.bias",
                                         attention + "content_bias", attention + "position_bias", "classifier.outer.bias"});
  for (const auto& entry : decayed(model.parameters(), model.embeddings(), "all")) CHECK(entry.kept.decay);
}

TEST_CASE("a class token counts as an embedding, like a table") {
  Majority task;
  const auto parts = parts_of(task, json::object(), plugin("softmax"), {{"pooling", "cls"}});
  const Training training(parts, at::kCPU);
  const auto& model = training.model();
  std::map<std::string, bool> decays;
  for (const auto& entry : decayed(model.parameters(), model.embeddings(), "matrices")) decays[entry.name] = entry.kept.decay;
  CHECK_FALSE(decays.at("class_token"));
  CHECK_FALSE(decays.at("tokens.weight"));
  CHECK(decays.at("layer2_attention.output.weight"));
}

TEST_CASE("parameters that a module excludes do not decay with either choice") {
  const auto scale = ablate::ones({2, 2});
  for (const char* which : {"all", "matrices"})
    CHECK_FALSE(decayed({{"scale", scale, {.decay = false}}}, {}, which).front().kept.decay);
}

TEST_CASE("decaying only matrices and decaying all parameters differ only in the decay of the other parameters") {
  Majority task;
  std::vector<std::vector<Tensor>> after;
  std::vector<Module::Entry> entries;
  std::vector<Tensor> before;
  for (const char* which : {"all", "matrices"}) {
    const auto parts = parts_of(task, {{"decayed", which}, {"warmup", 0}, {"schedule", "constant"}}, plugin("linear"));
    Training training(parts, at::kCPU);
    entries = decayed(training.model().parameters(), training.model().embeddings(), "matrices");
    before.clear();
    for (const auto& entry : entries) before.push_back(entry.tensor.detach().clone());
    training.step();
    auto& all = after.emplace_back();
    for (const auto& entry : entries) all.push_back(entry.tensor.detach().clone());
  }
  double most = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    INFO(entries[i].name);
    if (entries[i].kept.decay) {
      CHECK(after[0][i].equal(after[1][i]));
    } else {
      const auto lost = before[i] * (0.01 * 0.5);  // the learning rate times the decay
      CHECK((after[1][i] - after[0][i] - lost).abs().max().item<double>() < 1e-6);
      most = std::max(most, lost.abs().max().item<double>());
    }
  }
  CHECK(most > 1e-3);
}
