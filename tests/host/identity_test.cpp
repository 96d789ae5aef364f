// A trial's key: what changes it, and what does not.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::load;

namespace {

const std::map<std::string, std::string> kIdentities = {{"attention", "a1"}, {"attention.compression", "c1"}, {"task", "t1"}};

std::string key(const std::string& text) { return ablate::trial_key(load(text).trials.at(0), kIdentities, "d1"); }

const std::string kPlain =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\nplugin = \"adamra\"\nrates = [\"1/8\"]\n[train]\nsteps = 10\n";

}  // namespace

TEST_CASE("how a study is written does not change the key") {
  const auto plain = key(kPlain);
  CHECK(plain.size() == 64);
  CHECK(key("# a comment\n[train]\nsteps = 10 # another\n\n[attention.compression]\nplugin = \"segment-mean\"\n[attention]\nrates = [0.125]\nplugin = 'adamra'\n[task]\nplugin = "
            "\"image\"\n") == plain);
  CHECK(key("[experiment]\nname = \"other\"\ntimeout = 3\n" + kPlain) == plain);
  // A default written out, and a value that comes from the grid.
  CHECK(key(kPlain + "[model]\nlayers = 2\n") == plain);
  CHECK(key("[task]\nplugin = \"image\"\n[grid]\nseeds = [1]\nattention.plugin = [\"adamra\"]\nattention.compression = [{plugin = \"segment-mean\"}]\nattention.rates = "
            "[[\"2/16\"]]\ntrain.steps = [10]\n") == plain);
}

TEST_CASE("every value of the trial changes the key") {
  const auto plain = key(kPlain);
  CHECK(key(kPlain + "warmup = 1\n") != plain);
  CHECK(key(kPlain + "[model]\ndropout = 0.2\n") != plain);
  CHECK(key(kPlain + "[grid]\nattention.compression.plugin = [\"rbf\"]\n") != plain);
  CHECK(key(kPlain + "[grid]\nseeds = [2]\n") != plain);
}

TEST_CASE("each further ingredient changes the key") {
  const auto trial = load(kPlain).trials.at(0);
  const auto plain = ablate::trial_key(trial, kIdentities, "d1");
  CHECK(plain == ablate::trial_key(trial, kIdentities, "d1"));
  CHECK(plain != ablate::trial_key(trial, kIdentities, "d2"));
  for (const auto* section : {"attention", "attention.compression", "task"}) {
    auto changed = kIdentities;
    changed[section] += "x";
    CHECK(plain != ablate::trial_key(trial, changed, "d1"));
    changed.erase(section);
    CHECK(plain != ablate::trial_key(trial, changed, "d1"));
  }
}
