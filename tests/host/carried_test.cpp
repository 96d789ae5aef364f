// Proofs as a chain: what one has given, the next carries on; and what a command says of it at its end.
#include "core/host/proof/carried.h"

#include "core/shared/versions.h"
#include "db/history/store.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using ablate::Carried;
using ablate::Change;
using ablate::Coverage;
using ablate::Identity;
using ablate::Kind;
using nlohmann::json;

namespace {

using Words = std::vector<std::string>;

/// Trials of an attention "one" whose code was a, b and is c, and of "two" whose code was x and is y: alone, or both as parts.
struct Place {
  Place() : store(folder / "history.db"), experiment(store.put_experiment({"e", "", "", "", {}})) {
    catalog.plugins = {plugin("one", "c"), plugin("two", "y"), plugin("mixed", "m")};
    auto& parts = catalog.plugins.back().parameters.emplace_back();
    parts.name = "parts", parts.type = ablate::ParameterType::kPlugins, parts.choices = {"attention"};
  }

  static ablate::PluginInfo plugin(const std::string& id, const std::string& code) {
    ablate::PluginInfo info;
    info.id = id, info.code_digest = code;
    return info;
  }

  static Identity identity(json settings, const json& plugins) {
    Identity made{std::move(settings),
                  {{"plugins", plugins}, {"data", "d"}, {"runtime", ablate::kRuntimeVersion}, {"torch", ABLATE_TORCH_VERSION}}};
    if (made.settings.value("train.kernels", "fused") == "fused") made.basis["kernels"] = ablate::kKernelsVersion;
    return made;
  }
  static Identity alone(const std::string& id, const std::string& code, int seed, json settings = json::object()) {
    settings.update({{"attention.plugin", id}, {"seed", seed}});
    return identity(settings, {{"attention", code}});
  }
  static Identity both(const std::string& one, const std::string& two, int seed) {
    return identity({{"attention.plugin", "mixed"},
                     {"attention.parts.0.plugin", "one"},
                     {"attention.parts.1.plugin", "two"},
                     {"seed", seed}},
                    {{"attention", "m"}, {"attention.parts.0", one}, {"attention.parts.1", two}});
  }

  /// @param factor of the attention "one", where it has such a parameter
  void run(const Identity& trial, const json& factor = nullptr) {
    json resolved{{"key", trial.key()}};
    if (!factor.is_null()) resolved["attention"] = {{"plugin", "one"}, {"factor", factor}};
    store.put_trials(experiment, {{trial.key(), resolved, {}}});
    store.put_parts({{trial.key(), {trial.settings, trial.basis}}});
    store.put_attempt({.key = trial.key(), .outcome = "done", .environment = json::object()});
  }
  /// What the code of today has for factor.
  void set_default(const json& factor) {
    auto& parameters = catalog.plugins.front().parameters;
    parameters.resize(1);
    parameters[0].name = "factor", parameters[0].type = ablate::ParameterType::kReal, parameters[0].default_value = factor;
  }
  void set_code(const std::string& code) { catalog.plugins.front().code_digest = code; }
  bool is_done(const Identity& trial) { return store.done({trial.key()}).contains(trial.key()); }

  /// One command that proves the changes by repeating these, each with what it covers.
  struct Proven {
    std::size_t kept;
    Words left;
  };
  Proven prove(const std::vector<std::pair<std::map<std::string, std::string>, std::vector<Identity>>>& changes) {
    const ablate::db::Reader reader(store.file());
    Carried carried(reader, catalog);
    for (const auto& [codes, repeated] : changes) {
      ablate::ChangedCode changed;
      for (const auto& [before, after] : codes) changed.plugins.insert(before);
      const Coverage coverage(changed, repeated, 1);
      store.put_proof({.before = {{"plugins", json::array()}},
                       .now = {{"plugins", json::array()}},
                       .environment = json::object(),
                       .aliases = carried.carry({{"plugins", codes}}, coverage)});
    }
    return {carried.kept(), carried.left()};
  }

  const TemporaryFolder folder;
  ablate::db::Store store;
  std::int64_t experiment;
  ablate::Catalog catalog;
};

}  // namespace

TEST_CASE("a proof carries on what an earlier one has given") {
  Place place;
  place.run(place.alone("one", "a", 1));
  place.run(place.alone("one", "a", 2));
  place.prove({{{{"a", "b"}}, {place.alone("one", "a", 1)}}});
  CHECK(place.is_done(place.alone("one", "b", 2)));
  CHECK_FALSE(place.is_done(place.alone("one", "c", 2)));
  place.run(place.alone("one", "b", 3));
  place.run(place.alone("one", "b", 4, {{"attention.heads", 2}}));
  place.run(place.alone("one", "a", 5, {{"attention.heads", 2}}));  // which the first proof is not of
  const auto [kept, left] = place.prove({{{{"b", "c"}}, {place.alone("one", "b", 3)}}});
  for (const int seed : {1, 2, 3}) CHECK(place.is_done(place.alone("one", "c", seed)));
  CHECK(kept == 3);
  CHECK(left == Words{"attempt 4: attention.heads = 2 was not repeated"});
  CHECK_FALSE(place.is_done(place.alone("one", "c", 5, {{"attention.heads", 2}})));

  SECTION("and goes with it") {
    const auto withdrawn = place.store.withdraw_proof(1);
    CHECK(withdrawn.trials == 2);
    CHECK(withdrawn.resting == std::map<std::int64_t, std::size_t>{{2, 2}});
    for (const int seed : {1, 2}) CHECK_FALSE(place.is_done(place.alone("one", "c", seed)));
    CHECK(place.is_done(place.alone("one", "c", 3)));
  }
  SECTION("but not where the later one goes") {
    CHECK(place.store.withdraw_proof(2).resting.empty());
    CHECK(place.is_done(place.alone("one", "b", 1)));
    CHECK_FALSE(place.is_done(place.alone("one", "c", 1)));
  }
  SECTION("and what has run under such a key stays done") {
    place.run(place.alone("one", "c", 1));
    const auto withdrawn = place.store.withdraw_proof(1);
    CHECK(withdrawn.resting == std::map<std::int64_t, std::size_t>{{2, 1}});
    CHECK(place.is_done(place.alone("one", "c", 1)));
  }
}

TEST_CASE("what stays valid and what does not is of the end of the command, when all changes are proven") {
  Place place;
  place.run(place.alone("one", "b", 1));
  place.run(place.alone("two", "x", 1));
  place.run(place.both("b", "x", 1));
  const auto one = place.alone("one", "b", 1), two = place.alone("two", "x", 1), mixture = place.both("b", "x", 2);

  SECTION("one of two: the other one is still old") {
    const auto [kept, left] = place.prove({{{{"b", "c"}}, {one, mixture}}});
    CHECK(kept == 1);
    CHECK(left == Words{"attempt 3: what differs as well was not repeated: the code of two (attention.parts.1)"});
    CHECK_FALSE(place.is_done(place.both("c", "y", 1)));
    // A later command goes on from there.
    const auto later = place.prove({{{{"x", "y"}}, {two, place.both("c", "x", 2)}}});
    CHECK(later.kept == 2);
    CHECK(later.left.empty());
    CHECK(place.is_done(place.both("c", "y", 1)));
  }
  SECTION("both: what the first one leaves the second one keeps") {
    const auto [kept, left] = place.prove({{{{"b", "c"}}, {one, mixture}}, {{{"x", "y"}}, {two, place.both("c", "x", 2)}}});
    CHECK(kept == 3);
    CHECK(left.empty());
    CHECK(place.is_done(place.both("c", "y", 1)));
  }
  SECTION("a value of one of them was not repeated") {
    const auto [kept, left] = place.prove({{{{"b", "c"}}, {one, mixture}}, {{{"x", "y"}}, {two}}});
    CHECK(kept == 2);
    REQUIRE(left.size() == 1);
    CHECK(left[0].starts_with("attempt 3: attention.parts.1 in mixed (code m), "));
  }
  SECTION("a plugin is not here any more") {
    place.catalog.plugins.erase(place.catalog.plugins.begin() + 1);
    const auto [kept, left] = place.prove({{{{"b", "c"}}, {one, mixture}}});
    CHECK(kept == 1);
    CHECK(left == Words{"attempt 3: two (attention.parts.1) is not among the plugins"});
  }
}

TEST_CASE("what has run under the code of today is not left behind") {
  Place place;
  place.run(place.alone("one", "b", 1));
  place.run(place.alone("one", "b", 2, {{"attention.heads", 2}}));
  place.run(place.alone("one", "c", 2, {{"attention.heads", 2}}));
  const auto [kept, left] = place.prove({{{{"b", "c"}}, {place.alone("one", "b", 1)}}});
  CHECK(kept == 1);
  CHECK(left.empty());
}

TEST_CASE("a trial whose default the new code has otherwise is not that code's") {
  Place place;
  const auto scaled = [&](const std::string& code) { return place.alone("one", code, 1, {{"attention.factor", 5}}); };
  place.run(scaled("b"), 5);
  place.run(place.alone("one", "b", 2), 1);
  place.run(place.alone("one", "b", 3, {{"attention.factor", 20}}), 20);
  place.set_default(20);
  const auto [kept, left] = place.prove(
      {{{{"b", "c"}}, {scaled("b"), place.alone("one", "b", 2), place.alone("one", "b", 3, {{"attention.factor", 20}})}}});
  CHECK(place.is_done(scaled("c")));
  CHECK_FALSE(place.is_done(place.alone("one", "c", 2)));
  CHECK_FALSE(place.is_done(place.alone("one", "c", 3, {{"attention.factor", 20}})));
  CHECK(kept == 1);
  CHECK(left == Words{"attempt 2: attention.factor: its default was 1 and is 20",
                      "attempt 3: attention.factor: its default was another and is 20"});
}

TEST_CASE("a parameter that the edit has added stands at its default, from then on") {
  Place place;
  place.run(place.alone("one", "a", 1));
  place.set_code("b"), place.set_default(1);
  CHECK(place.prove({{{{"a", "b"}}, {place.alone("one", "a", 1)}}}).left.empty());
  REQUIRE(place.is_done(place.alone("one", "b", 1)));

  SECTION("the next edit leaves the default") {
    place.set_code("c");
    CHECK(place.prove({{{{"b", "c"}}, {place.alone("one", "b", 1)}}}).left.empty());
    CHECK(place.is_done(place.alone("one", "c", 1)));
  }
  SECTION("the next edit changes the default") {
    place.set_code("c"), place.set_default(20);
    CHECK(place.prove({{{{"b", "c"}}, {place.alone("one", "b", 1)}}}).left ==
          Words{"attempt 1: attention.factor: its default was 1 and is 20"});
    CHECK_FALSE(place.is_done(place.alone("one", "c", 1)));
  }
  SECTION("or renames the parameter") {
    place.set_code("c"), place.set_default(20);
    place.catalog.plugins.front().parameters[0].name = "gain";
    CHECK(place.prove({{{{"b", "c"}}, {place.alone("one", "b", 1)}}}).left.empty());
  }
}
