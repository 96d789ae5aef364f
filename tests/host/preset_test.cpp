// Presets: named base values of studies.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using nlohmann::json;
using Names = std::vector<std::string>;

namespace {

const std::string kPreset =
    "[task]\nplugin = \"image\"\npool = 4\n[model]\nlayers = 4\n[attention]\nplugin = \"compressed\"\nheads = 8\n"
    "compression.plugin = \"rbf\"\n[train]\nsteps = 10\n";

/// Returns the errors of a study with a preset. Each begins with FILE:line:column: FILE is the study or the preset.
std::string refusal(const std::string& preset, const std::string& text, const Names& overrides = {}) {
  const studies::Folder folder;
  folder.write(preset, "presets/small.toml");
  const auto file = folder.write(text);
  try {
    ablate::load_study(file, overrides, studies::catalog());
  } catch (const ablate::Error& error) {
    std::string message = error.what();
    const auto prefix = file.parent_path().string() + "/";
    for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix)) message.erase(at, prefix.size());
    return message;
  }
  return "";
}

ablate::Study load(const std::string& text, const Names& overrides = {}) {
  const studies::Folder folder;
  folder.write(kPreset, "presets/small.toml");
  return ablate::load_study(folder.write(text), overrides, studies::catalog());
}

const std::string kNamed = "[experiment]\npreset = \"small\"\n";

}  // namespace

TEST_CASE("a preset gives base values, and the study's own values override them") {
  const auto resolved = load(kNamed + "[model]\nlayers = 1\n[grid]\ntrain.steps = [20]\n").trials.at(0).resolved();
  CHECK(resolved["task"]["pool"] == 4);
  CHECK(resolved["model"]["layers"] == 1);
  CHECK(resolved["train"]["steps"] == 20);
  CHECK(resolved["attention"]["heads"] == 8);
  CHECK(load(kNamed, {"train.steps=30"}).trials.at(0).resolved()["train"]["steps"] == 30);
  CHECK(load("", {"experiment.preset=small"}).trials.at(0).resolved()["train"]["steps"] == 10);
  const auto trial = load(kNamed).trials.at(0);
  const auto& where = *trial.where.find("train.steps");
  CHECK(where.file.ends_with("presets/small.toml"));
  CHECK(where.line == 11);
}

TEST_CASE("a preset's name is not part of a trial's identity") {
  CHECK(load(kNamed).trials.at(0).resolved() == load(kPreset).trials.at(0).resolved());
}

TEST_CASE("preset values that the study's plugins do not have are left out") {
  CHECK(load(kNamed + "[attention]\nplugin = \"adamra\"\n").trials.at(0).resolved()["attention"]["subheads"] == 2);
  CHECK(load(kNamed + "[attention]\nplugin = \"softmax\"\n").trials.at(0).resolved()["attention"] ==
        json{{"plugin", "softmax"}, {"heads", 8}});
  // A list in the study replaces the preset's attention.
  const auto layers = load(kNamed + "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"softmax\"\n");
  CHECK(layers.trials.at(0).resolved()["attention"].size() == 2);
  CHECK(layers.trials.at(0).resolved()["attention"][1]["heads"] == 2);
}

TEST_CASE("mistakes in presets and in their use are reported where they are written") {
  const auto unknown = refusal(kPreset,
                               "[experiment]\npreset = \"smal\"\n[task]\nplugin = \"image\"\n[attention]\nplugin = "
                               "\"softmax\"\n");
  INFO(unknown);
  CHECK(unknown.starts_with("study.toml:2:10: unknown preset \"smal\" (did you mean small?); looked for NAME.toml in presets"));
  CHECK(refusal(kPreset + "stps = 3\n", kNamed) ==
        "presets/small.toml:12:1: unknown key stps in [train] (did you mean steps?)");
  CHECK(refusal(kPreset + "batch = 0\n", kNamed) ==
        "presets/small.toml:12:9: train.batch = 0: expected an integer in [1, 65536]");
  CHECK(refusal(kPreset + "[grid]\nseeds = 2\n", kNamed) ==
        "presets/small.toml:12:2: a preset holds only base values; [grid] belongs in a study");
  CHECK(refusal(kPreset + "[trian]\n", kNamed)
            .starts_with("presets/small.toml:12:2: unknown section trian (did you mean train?)"));
  CHECK(refusal(kPreset + "batch\n", kNamed).starts_with("presets/small.toml:12:"));
  CHECK(refusal(kPreset, "[experiment]\npreset = 3\n" + kPreset) ==
        "study.toml:2:10: experiment.preset = 3: expected a text in one line");
  CHECK(refusal(kPreset, "[experiment]\npreset = \"../study\"\n" + kPreset).find("unknown preset") != std::string::npos);
}

TEST_CASE("the shipped presets are valid") {
  const studies::Folder folder;
  auto plugins = studies::catalog();
  for (auto& plugin : plugins.plugins) {
    if (plugin.id == "linear")
      plugin.parameters.push_back(ablate::describe(ablate::text("normaliser", "\"sum\"", "sum|length", "divisor")));
    if (plugin.id == "image")
      for (const auto& parameter : {ablate::text("black", "\"token\"", "token|absent", "black"),
                                    ablate::text("grey", "\"rounded\"", "rounded|tensorflow", "grey"),
                                    ablate::text("dev_pictures", "\"drawn\"", "drawn|last", "dev")})
        plugin.parameters.push_back(ablate::describe(parameter));
  }
  plugins.plugins.push_back(studies::plugin(ablate::Kind::kAttention, "reformer",
                                            {ablate::boolean("across_buckets", "false", "other buckets, too")}));
  const auto resolved = [&](const std::string& preset, const std::string& rest, const std::string& attention = "linear") {
    return ablate::load_study(
               folder.write("[experiment]\npreset = \"" + preset + "\"\n[attention]\nplugin = \"" + attention + "\"\n" + rest),
               {}, plugins)
        .trials.at(0)
        .resolved();
  };
  for (const auto* preset : {"lra-corrected", "lra-nystromformer", "lra-google"}) {
    INFO(preset);
    CHECK(resolved(preset, "[task]\nplugin = \"image\"\n[train]\nwarmup = 9\n", "reformer")["attention"]["across_buckets"] ==
          true);
  }
  const auto corrected = resolved("lra-corrected", "[task]\nplugin = \"image\"\n");
  CHECK(corrected["train"]["beta1"] == 0.9);
  CHECK(corrected["train"]["beta1_low"] == 0);
  CHECK(corrected["model"]["inner_dropout"] == 0);
  CHECK(corrected["model"]["pooling"] == "mean");
  CHECK(corrected["model"]["classifier"] == "linear");
  CHECK(corrected["attention"]["normaliser"] == "sum");
  CHECK(corrected["task"]["black"] == "token");
  CHECK(corrected["task"]["grey"] == "rounded");

  const auto xiong = resolved("lra-nystromformer", "[task]\nplugin = \"image\"\n");
  CHECK(xiong["train"]["beta1_low"] == 0.85);
  CHECK(xiong["model"]["inner_dropout"] == 0.1);
  CHECK(xiong["model"]["pooling"] == "mean-all");
  CHECK(xiong["model"]["classifier_hidden"] == xiong["model"]["hidden"]);
  CHECK(xiong["attention"]["normaliser"] == "length");
  CHECK(xiong["task"]["black"] == "absent");
  CHECK(xiong["task"]["grey"] == "tensorflow");
  CHECK(xiong["task"]["dev_pictures"] == "last");

  const auto google = resolved("lra-google", "[task]\nplugin = \"image\"\n[train]\nwarmup = 9\n");
  CHECK(google["train"]["schedule"] == "inverse-sqrt");
  CHECK(google["train"]["weight_decay"] == 0.1);
  CHECK(google["model"]["pooling"] == "cls");
  CHECK(google["attention"]["normaliser"] == "sum");
  CHECK(google["task"]["grey"] == "tensorflow");  // as in Xiong et al.
  CHECK(google["task"]["dev_pictures"] == "last");
}
