// A trial's key: changes that matter, and changes that do not.
#include "core/host/scheduler/identity.h"

#include "core/shared/versions.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using ablate::Identity;
using studies::load;

namespace {

/// Returns the test's plugins, each with its own code digest.
ablate::Catalog with_code() {
  auto catalog = studies::catalog();
  for (auto& plugin : catalog.plugins) plugin.code_digest = "code of " + plugin.id;
  return catalog;
}

Identity identity(const std::string& text, const ablate::Catalog& catalog = with_code(), const std::string& data = "d1",
                  const std::string& torch = "2.11.0") {
  return ablate::identity_of(load(text).trials.at(0).spec, {}, catalog, data, torch);
}

std::string key(const std::string& text) { return identity(text).key(); }

const std::string kPlain =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\nplugin = \"adamra\"\nrates = "
    "[\"1/8\"]\n[train]\nsteps = 10\n";

}  // namespace

TEST_CASE("the layout of a study does not change the key") {
  const auto plain = key(kPlain);
  CHECK(plain.size() == 64);
  CHECK(key("# a comment\n[train]\nsteps = 10 # another\n\n[attention.compression]\nplugin = "
            "\"segment-mean\"\n[attention]\nrates = [0.125]\nplugin = 'adamra'\n[task]\nplugin = "
            "\"image\"\n") == plain);
  CHECK(key("[experiment]\nname = \"other\"\ntimeout = 3\ncheckpoint = 5\nkeep_weights = true\n" + kPlain) == plain);
  // An explicit default, or a value that comes from the grid, does not change the key either.
  CHECK(key(kPlain + "[model]\nlayers = 2\n") == plain);
  CHECK(key("[task]\nplugin = \"image\"\n[grid]\nseeds = [1]\nattention.plugin = [\"adamra\"]\nattention.compression = "
            "[{plugin = \"segment-mean\"}]\nattention.rates = "
            "[[\"2/16\"]]\ntrain.steps = [10]\n") == plain);
}

TEST_CASE("every value of the trial changes the key") {
  const auto plain = key(kPlain);
  CHECK(key(kPlain + "warmup = 1\n") != plain);
  CHECK(key(kPlain + "threads = 2\n") != plain);
  CHECK(key(kPlain + "[model]\ndropout = 0.2\n") != plain);
  CHECK(key(kPlain + "[grid]\nattention.compression.plugin = [\"rbf\"]\n") != plain);
  CHECK(key(kPlain + "[grid]\nattention.compression.plugin = [\"rbf\"]\nattention.compression.width = [0.5]\n") !=
        key(kPlain + "[grid]\nattention.compression.plugin = [\"rbf\"]\n"));
  CHECK(key(kPlain + "[grid]\nseeds = [2]\n") != plain);
}

TEST_CASE("a newer option whose default keeps the old behaviour changes no key") {
  const auto plain = key(kPlain);
  auto later = with_code();
  for (auto& plugin : later.plugins)
    plugin.parameters.push_back(ablate::describe(ablate::integer("later", "7", {0, 9}, "an option that came later")));
  auto trial = load(kPlain).trials.at(0).spec;
  auto& attention = trial.attention.all.front();
  for (auto* given : {&trial.task, &attention, &attention.parts.at("compression").all.front()}) given->values["later"] = 7;
  const auto of = [&] { return ablate::identity_of(trial, {}, later, "d1", "2.11.0").key(); };
  CHECK(of() == plain);
  attention.values["later"] = 8;
  CHECK(of() != plain);
}

TEST_CASE("the kind of a device is part of the key, and its number is not") {
  const auto on = [](const std::string& device) { return key(kPlain + "device = \"" + device + "\"\n"); };
  CHECK(on("cpu") == key(kPlain));
  CHECK(on("cuda") != on("cpu"));
  CHECK(on("cuda:1") == on("cuda"));
}

TEST_CASE("the key depends on train.kernels, and contains the kernels' version if fused forms may run") {
  CHECK(identity(kPlain).basis.at("kernels") == ablate::kKernelsVersion);
  CHECK_FALSE(identity(kPlain + "kernels = \"reference\"\n").basis.contains("kernels"));
  CHECK_FALSE(identity(kPlain + "device = \"cuda\"\n").basis.contains("kernels"));
  CHECK(key(kPlain + "kernels = \"fused\"\n") == key(kPlain));
  CHECK(key(kPlain + "kernels = \"reference\"\n") != key(kPlain));
  auto before = identity(kPlain);
  before.basis["kernels"] = ablate::kKernelsVersion - 1;
  CHECK(differences(identity(kPlain), before) ==
        std::vector<std::string>{"the kernels' version (" + std::to_string(ablate::kKernelsVersion) + ", was " +
                                 std::to_string(ablate::kKernelsVersion - 1) + ")"});
  before.basis.erase("kernels");
  CHECK(differences(identity(kPlain), before).size() == 1);
}

TEST_CASE("the key depends on the content of a file, not on its path") {
  const auto here = load(kPlain + "[grid]\ntask.data = [\"here.txt\"]\n").trials.at(0).spec;
  const auto of = [&](const auto& trial, const std::string& content) {
    return ablate::identity_of(trial, {{"task.data", content}}, with_code(), "d1", "2.11.0").key();
  };
  const auto elsewhere = load(kPlain + "[grid]\ntask.data = [\"there.txt\"]\n").trials.at(0).spec;
  CHECK(of(here, "c1") == of(elsewhere, "c1"));
  CHECK(of(here, "c1") != of(here, "c2"));
}

TEST_CASE("code, data and torch change the key, and the difference is named") {
  const auto plain = identity(kPlain);
  const auto changes = [&](const Identity& other) {
    CHECK(other.key() != plain.key());
    return ablate::differences(other, plain);
  };
  using Words = std::vector<std::string>;
  CHECK(changes(identity(kPlain, with_code(), "d2")) == Words{"the data"});
  CHECK(changes(identity(kPlain, with_code(), "d1", "2.12.0")) == Words{"torch (\"2.12.0\", was \"2.11.0\")"});
  for (const auto& [id, path] :
       {std::pair{"image", "task"}, {"adamra", "attention"}, {"segment-mean", "attention.compression"}}) {
    auto edited = with_code();
    for (auto& plugin : edited.plugins)
      if (plugin.id == id) plugin.code_digest += " edited";
    CHECK(changes(identity(kPlain, edited)) == Words{std::string("the code of ") + id + " (" + path + ")"});
  }
  CHECK(changes(identity(kPlain + "warmup = 3\n")) == Words{"train.warmup (3, was the default)"});
  CHECK(changes(identity(kPlain + "[grid]\nattention.compression.plugin = [\"rbf\"]\n")) ==
        Words{"attention.compression.plugin (\"rbf\", was \"segment-mean\")"});
  CHECK(ablate::differences(plain, plain).empty());
}
