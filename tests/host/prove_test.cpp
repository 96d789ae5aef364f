// A proof holds for a trial if all relevant settings of the trial equal the settings of one repeated trial.
#include "core/host/proof/prove.h"

#include "tests/support/catch.h"

using ablate::code_patch;
using ablate::Identity;
using ablate::Reach;
using ablate::reach_of;
using ablate::scope_of;
using nlohmann::json;

namespace {

/// Returns a trial with a compression inside an attention. `values` and `basis` replace parts of it.
Identity trial(const json& values = json::object(), const json& basis = json::object()) {
  Identity made{json::object(),
                {{"plugins", {{"attention", "c"}, {"attention.compression", "rbf 1"}, {"task", "t"}}},
                 {"data", "d"},
                 {"runtime", 7},
                 {"kernels", 2},
                 {"torch", "2.11.0"}},
                {{"attention.plugin", "compressed"},
                 {"attention.heads", 2},
                 {"attention.compression.plugin", "rbf"},
                 {"attention.compression.slots", 4},
                 {"task.plugin", "recall"},
                 {"task.length", 8},
                 {"model.d_model", 64},
                 {"train.dtype", "float32"},
                 {"train.threads", 1},
                 {"train.batch", 4},
                 {"train.learning_rate", 0.1},
                 {"train.steps", 10},
                 {"seed", 1}}};
  made.values.update(values);
  made.basis.merge_patch(basis);
  return made;
}

/// True if a proof by trial() holds for a trial with these values and basis.
bool holds(Reach reach, const json& values, const json& basis = json::object()) {
  return scope_of(trial(), reach) == scope_of(trial(values, basis), reach);
}

}  // namespace

TEST_CASE("a plugin's proof covers other seeds and learning rates, and no change of a setting that reaches a plugin") {
  CHECK(holds(Reach::kPlugin, {{"seed", 2}, {"train.learning_rate", 0.2}, {"train.beta2", 0.99}, {"train.cosine_floor", 0.1}}));
  for (const auto* other : {R"({"attention.compression.slots": 8})", R"({"attention.heads": 4})", R"({"task.length": 9})",
                            R"({"model.d_model": 32})", R"({"model.new": 1})", R"({"train.dtype": "mixed"})",
                            R"({"train.threads": 2})", R"({"train.batch": 8})", R"({"train.device": "cuda"})",
                            R"({"train.steps": 20})", R"({"train.stride": 4})", R"({"train.new": 1})"}) {
    INFO(other);
    CHECK_FALSE(holds(Reach::kPlugin, json::parse(other)));
  }
  for (const auto* other :
       {R"({"plugins": {"attention": "d"}})", R"({"plugins": {"attention.compression": "rbf 0"}})",
        R"({"plugins": {"task": "u"}})", R"({"data": "e"})", R"({"torch": "2.10.0"})", R"({"runtime": 6})"}) {
    INFO(other);
    CHECK_FALSE(holds(Reach::kPlugin, json::object(), json::parse(other)));
  }
}

TEST_CASE("a task's proof covers every attention; a proof of ablate's own code covers only the same settings") {
  const json attention = {{"attention.heads", 4}}, code = {{"plugins", {{"attention", "d"}}}};
  CHECK(holds(Reach::kTask, attention, code));
  CHECK_FALSE(holds(Reach::kTask, {{"task.length", 9}}));
  CHECK_FALSE(holds(Reach::kTask, {{"model.d_model", 32}}));
  CHECK(holds(Reach::kHost, {{"seed", 2}}));
  CHECK_FALSE(holds(Reach::kHost, {{"train.learning_rate", 0.2}}));
  CHECK_FALSE(holds(Reach::kHost, attention));
  CHECK_FALSE(holds(Reach::kHost, json::object(), code));
}

TEST_CASE("a patch contains only changes of code") {
  const auto before = trial().basis;
  const auto after = [&](const json& change) { return trial(json::object(), change).basis; };
  const auto patched = [&](const json& change) {
    auto basis = before;
    const auto patch = code_patch(before, after(change));
    basis.merge_patch(patch);
    CHECK(basis == after(change));
    return reach_of(patch);
  };
  CHECK(code_patch(before, before).is_null());
  CHECK(code_patch(before, after({{"data", "e"}})).is_null());
  CHECK(code_patch(before, after({{"torch", "2.10.0"}, {"runtime", 8}})).is_null());
  CHECK(code_patch(before, after({{"plugins", {{"attention.compression", nullptr}}}})).is_null());
  CHECK(patched({{"plugins", {{"task", "u"}}}}) == Reach::kTask);
  CHECK(patched({{"plugins", {{"attention.compression", "rbf 2"}}}}) == Reach::kPlugin);
  CHECK(patched({{"plugins", {{"task", "u"}, {"attention", "d"}}}}) == Reach::kPlugin);
  CHECK(patched({{"runtime", 8}, {"plugins", {{"task", "u"}}}}) == Reach::kHost);
  CHECK(patched({{"kernels", nullptr}}) == Reach::kHost);
}
