// [grid.tune] widen: values beyond the ends of a tuned axis, which a run adds while the best value is at an end.
#include <map>

#include "core/host/study/tuning.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using studies::load;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 7 of a study. Text that a test appends is in [grid.tune], from line 8 on.
const std::string kTuned =
    "[task]\nplugin = \"image\"\n[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n[grid.tune]\nwiden = true\n";

/// Returns a parameter's values by Trial::beyond.
std::map<int, double> values(const std::string& text, const std::string& name = "learning_rate") {
  std::map<int, double> all;
  for (const auto& trial : load(text).trials) all[trial.beyond] = trial.resolved().at("train").at(name);
  return all;
}

}  // namespace

TEST_CASE("up to four values are added beyond each end, by the ratio of the two values at this end") {
  const auto text = kTuned + "train.learning_rate = [1e-2, 1e-3, 3e-3]\n";
  const auto study = load(text);
  CHECK(study.widens);
  CHECK(study.waits_for_dev());
  CHECK(study.trials.size() == 2 * 2 * (3 + 4 + 4));
  using Values = std::map<int, double>;
  auto found = values(text);
  found.erase(0);
  CHECK(found ==
        Values{{-4, 1.23e-5}, {-3, 3.7e-5}, {-2, 1.11e-4}, {-1, 3.33e-4}, {1, 3.33e-2}, {2, 0.111}, {3, 0.37}, {4, 1.23}});
  // The written values have the same trials, in the same order and in the same cells, as without widen.
  auto plain = text;
  plain.erase(plain.find("widen = true\n"), 13);
  const auto without = load(plain);
  std::vector<const ablate::Trial*> written;
  for (const auto& trial : study.trials)
    if (trial.beyond == 0) written.push_back(&trial);
  REQUIRE(written.size() == without.trials.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    CHECK(written[i]->resolved() == without.trials[i].resolved());
    CHECK(written[i]->cell == without.trials[i].cell);
  }
}

TEST_CASE("values that the parameter refuses are left out") {
  const auto found = values(kTuned + "train.learning_rate = [1, 4]\n");
  CHECK(found.rbegin()->first == 0);  // 16 is above the largest learning rate, 10
}

TEST_CASE("widen needs one axis of positive real numbers") {
  const std::string why =
      "7:9: grid.tune.widen adds values beyond the ends of one axis: expected one tuned parameter of real numbers, as "
      "train.learning_rate, with at least two different values above 0; leave widen out, or tune such a parameter";
  CHECK(errors(kTuned + "train.learning_rate = [1e-3, 3e-3]\ntrain.weight_decay = [0.1, 0.2]\n") == Names{why});
  CHECK(errors(kTuned + "train.weight_decay = [0, 0.1]\n") == Names{why});
  CHECK(errors(kTuned + "model.hidden = [64, 128]\n") == Names{why});
  CHECK(errors(kTuned + "train.optimizer = [\"adamw\", \"sgd\"]\n") == Names{why});
  auto text = kTuned + "train.learning_rate = [1e-3, 3e-3]\n";
  CHECK(load(text, {"train.learning_rate=1e-3"}).trials.size() == 4);  // nothing is tuned
  text.replace(text.find("true"), 4, "1");
  CHECK(errors(text) == Names{"7:9: grid.tune.widen = 1: expected true or false"});
}
