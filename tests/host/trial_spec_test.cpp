// A trial as a type: each value of its document has a member of the same name. Also tests a trial's requirements of plugins.
#include "core/records/data_settings.h"
#include "core/registry/conditions.h"
#include "core/shared/requirements.h"
#include "core/shared/sections.h"
#include "tests/support/catch.h"

using namespace ablate;
using nlohmann::json;

namespace {

json changed(std::span<const ParameterInfo> parameters, const json& changes) {
  auto section = json::object();
  for (const auto& parameter : parameters) section[parameter.name] = parameter.default_value;
  if (!changes.is_null()) section.update(changes);
  return section;
}

}  // namespace

TEST_CASE("each value of a document fills the member of its name") {
  const json model{{"layers", 3},
                   {"d_model", 5},
                   {"hidden", 7},
                   {"dropout", 0.125},
                   {"inner_dropout", 0.25},
                   {"attention_width", 11},
                   {"attention_dropout", 0.375},
                   {"pooling", "last"},
                   {"classifier", "mlp"},
                   {"classifier_hidden", 13},
                   {"positions", "none"},
                   {"causal", true},
                   {"norm", "post"},
                   {"norm_type", "rms"},
                   {"feed_forward", "gated"},
                   {"activation", "relu"},
                   {"segment", 17},
                   {"cut", "nowhere"},
                   {"tied_output", true}};
  const auto m = model_from_json(model);
  CHECK(model.size() == model_parameters().size());
  CHECK(json{m.layers, m.d_model, m.hidden, m.attention_width, m.classifier_hidden, m.segment} == json{3, 5, 7, 11, 13, 17});
  CHECK(json{m.dropout, m.inner_dropout, m.attention_dropout} == json{0.125, 0.25, 0.375});
  CHECK(json{m.pooling, m.classifier, m.positions, m.norm, m.norm_type, m.feed_forward, m.activation, m.cut} ==
        json{"last", "mlp", "none", "post", "rms", "gated", "relu", "nowhere"});
  CHECK((m.causal && m.tied_output));
  CHECK_FALSE(model_from_json(changed(model_parameters(), {{"causal", true}})).tied_output);
  const json train{{"steps", 2},
                   {"batch", 3},
                   {"learning_rate", 0.5},
                   {"schedule", "cosine"},
                   {"accumulate", 5},
                   {"warmup", 7},
                   {"weight_decay", 0.25},
                   {"beta1", 0.75},
                   {"beta1_low", 0.625},
                   {"beta2", 0.875},
                   {"epsilon", 0.125},
                   {"clip", 4.0},
                   {"loss_piece", 11},
                   {"evaluate_every", 13},
                   {"evaluate_batches", 17},
                   {"test_batches", 19},
                   {"stride", 23},
                   {"shuffle_labels", true},
                   {"dtype", "bfloat16"},
                   {"device", "cuda:1"},
                   {"threads", 29},
                   {"optimizer", "sgd"},
                   {"momentum", 0.5},
                   {"kernels", "reference"},
                   {"graphs", true},
                   {"decayed", "matrices"},
                   {"test_last", true},
                   {"cosine_floor", 0.25},
                   {"cooldown", 0.5},
                   {"cooldown_shape", "1-sqrt"}};
  const auto t = train_from_json(train);
  CHECK(train.size() == train_parameters().size());
  CHECK(json{t.steps, t.batch, t.accumulate, t.warmup, t.loss_piece} == json{2, 3, 5, 7, 11});
  CHECK(json{t.evaluate_every, t.evaluate_batches, t.test_batches, t.stride, t.threads} == json{13, 17, 19, 23, 29});
  CHECK(json{t.learning_rate, t.weight_decay, t.clip} == json{0.5, 0.25, 4.0});
  CHECK(json{t.optimizer, t.schedule, t.decayed, t.dtype, t.device} == json{"sgd", "cosine", "matrices", "bfloat16", "cuda:1"});
  // Parameters of the chosen optimizer and schedule are read by name.
  CHECK(t.own == json{{"beta1", 0.75},
                      {"beta1_low", 0.625},
                      {"beta2", 0.875},
                      {"epsilon", 0.125},
                      {"momentum", 0.5},
                      {"cosine_floor", 0.25},
                      {"cooldown", 0.5},
                      {"cooldown_shape", "1-sqrt"}});
  CHECK((t.test_last && t.shuffle_labels && t.graphs && t.on_cuda() && !t.fused()));
  auto other = t;  // a copy shares the values until it changes them
  other.own["beta1"] = 0.5;
  CHECK(t.own.at("beta1") == 0.75);
  CHECK(!(other == t));
  const json softmax{{"plugin", "softmax"}, {"heads", 2}, {"rates", {"1/2", "1/4"}}};
  for (const auto& attention : {softmax, json::array({softmax}), json{{"plugin", "mixed"}, {"parts", {softmax, softmax}}},
                                json{{"plugin", "compressed"}, {"compression", {{"plugin", "rbf"}}}}}) {
    const json document{{"model", model}, {"train", train}, {"attention", attention}, {"task", softmax}, {"seed", 3}};
    CHECK(to_json(trial_from_json(document)).dump() == document.dump());
  }
  CHECK_THROWS(model_from_json(json{{"layers", 3}}));
  CHECK_THROWS_WITH(model_from_json(changed(model_parameters(), {{"layers", "3"}})),
                    "layers of [model] is \"3\", expected an integer in [0, 64]");
}

TEST_CASE("a trial's needs of its plugins follow from its settings and the task's shape") {
  const auto asked = [](const json& model, const json& train, const TaskShape& task) {
    return requirements_of({.model = model_from_json(changed(model_parameters(), model)),
                            .train = train_from_json(changed(train_parameters(), train))},
                           task);
  };
  const auto plain = asked({}, {}, {.length = 64});
  CHECK(plain.length == 64);
  CHECK_FALSE((plain.causal || plain.holes || plain.padded || plain.looks_back || plain.rotary || plain.weight_dropout ||
               plain.cuda || plain.half || plain.class_token));
  const auto all = asked({{"positions", "rotary"}, {"attention_dropout", 0.1}, {"causal", true}},
                         {{"device", "cuda:1"}, {"dtype", "bfloat16"}}, {.causal = true, .holes = true, .padded = true});
  CHECK((all.causal && all.holes && all.padded && all.looks_back && all.rotary && all.weight_dropout && all.cuda && all.half));
  CHECK(all.length == 0);
  CHECK(asked({{"pooling", "cls"}}, {}, {.length = 64}).length == 65);
  CHECK(asked({{"pooling", "cls"}}, {}, {.length = 64, .pooled = false}).length == 64);
  CHECK(asked({{"segment", 16}}, {}, {.length = 64}).length == 16);
  CHECK(asked({{"segment", 128}}, {}, {.length = 64}).length == 64);
}

TEST_CASE("conditions of the host's parameters name only parameters of their own section, and can be met") {
  for (const auto parameters : {model_parameters(), train_parameters()}) {
    const PluginInfo host{.id = "host", .parameters = {parameters.begin(), parameters.end()}};
    for (const auto& parameter : parameters) {
      INFO(parameter.name);
      const auto read = reading(host, parameter.name, changed(parameters, {{"layers", 0}, {"hidden", 0}}));
      CHECK(unmet_condition(parameters, parameter, read) == "");
    }
  }
}

TEST_CASE("the history reads only document fields that a trial's type and existing parameters have") {
  TrialSpec trial;
  trial.task = {.id = "image", .values = {{"pool", 2}}};
  trial.train =
      train_from_json(changed(train_parameters(), {{"steps", 7}, {"batch", 3}, {"accumulate", 2}, {"test_batches", 5}}));
  const auto read = data_settings(to_json(trial));
  REQUIRE(read);
  CHECK((read->rows == example_rows(trial.train)));
  CHECK((read->rows == ExampleRows{.test = 15, .train = 42, .lanes = 3}));
  CHECK(read->task == to_json(trial.task));
  CHECK(plugin_id_of(read->task) == "image");
  // Documents of other programs or former versions.
  CHECK_FALSE(data_settings(json::array()));
  CHECK_FALSE(data_settings({{"task", "image"}}));
  CHECK((data_settings({{"task", json::object()}, {"train", {{"steps", 7}, {"batch", "3"}}}})->rows == ExampleRows{}));
  CHECK(plugin_id_of(json::object()).empty());

  std::vector<std::string> rows, tests;
  for (const auto& parameter : train_parameters()) {
    const auto path = "train." + parameter.name;
    if (decides_rows(path)) rows.push_back(parameter.name);
    if (decides_test_examples(path, true)) tests.push_back(parameter.name);
  }
  CHECK(rows == std::vector<std::string>{"steps", "batch", "accumulate", "test_batches"});
  CHECK(tests == std::vector<std::string>{"batch", "test_batches", "stride"});
  CHECK((decides_rows("task.length") && !decides_test_examples("train.batch", false) && !decides_rows("tasks")));
}
