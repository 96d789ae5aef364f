// Tools for tests of studies: a catalog of hand-made plugins, and studies from text.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "core/host/study/study.h"
#include "tests/support/temporary.h"

namespace studies {

using ablate::Catalog;
using ablate::Kind;
using ablate::PluginInfo;

inline PluginInfo plugin(Kind kind, const char* id, std::vector<ablate::Parameter> parameters) {
  PluginInfo info{.kind = kind, .id = id, .version = "1.0.0"};
  for (const auto& parameter : parameters) info.parameters.push_back(ablate::describe(parameter));
  return info;
}

/// Returns schemas of built-in plugins with the parameters that tests need, and of a made-up attention, `tabled`.
inline Catalog catalog() {
  using namespace ablate;
  const auto heads = integer("heads", "2", {1, 64}, "heads");
  const auto compression = ablate::plugin("compression", "compression", "memory");
  Catalog all;
  all.plugins = {
      plugin(Kind::kTask, "image",
             {text("data", "\"fashion-mnist\"", "", "data"), integer("pool", "1", {1, 64}, "pool"),
              text("black", "\"token\"", "token|absent", "black"), integer("dev", "5000", {1, 1e7}, "dev"),
              integer("data_seed", "0", {0, 1e15}, "seed")}),
      plugin(Kind::kTask, "listops",
             {integer("min_length", "500", {0, 65535}, "shortest"), integer("max_length", "2000", {2, 65536}, "longest"),
              integer("train", "96000", {1, 1e7}, "examples")}),
      plugin(Kind::kAttention, "softmax", {heads}),
      plugin(Kind::kAttention, "linear", {heads, text("feature_map", "\"elu+1\"", "elu+1|relu", "phi")}),
      plugin(Kind::kAttention, "compressed",
             {heads, rate("rate", "\"1/4\"", "rate"), compression, text("read", "\"softmax\"", "softmax|elu+1|relu", "read")}),
      plugin(Kind::kAttention, "adamra",
             {rates("rates", "[\"1/2\", \"1/4\", \"1/8\", \"1/16\"]", "rates"), integer("subheads", "2", {1, 64}, "subheads"),
              compression, text("feature_map", "\"relu\"", "relu|elu+1|softmax", "phi"),
              text("routing", "\"learned\"", "learned|random|all", "routing"),
              text("router_gradient", "\"scale\"", "scale|straight-through|none", "gradient")}),
      plugin(Kind::kAttention, "mixed", {ablate::plugins("parts", "attention", "attentions side by side")}),
      plugin(Kind::kAttention, "tabled",
             {file("table", "\"\"", "weights"), text("normaliser", "\"sum\"", "sum|length", "divisor")}),
      plugin(Kind::kCompression, "segment-mean", {}),
      plugin(Kind::kCompression, "rbf",
             {real("width", "1.0", {0.25, 2}, "width"), real("ridge", "0.001", {1e-9, 100}, "ridge")}),
  };
  return all;
}

/// A separate folder for a test's studies.
class Folder {
 public:
  std::filesystem::path write(const std::string& text, const std::string& name = "study.toml") const {
    return folder_.write(name, text);
  }

 private:
  TemporaryFolder folder_;
};

inline ablate::Study load(const std::string& text, const std::vector<std::string>& overrides = {},
                          const Catalog& plugins = catalog(), const ablate::CountSizes& count = {}) {
  const Folder folder;
  return ablate::load_study(folder.write(text), overrides, plugins, {}, count);
}

/// Returns "3:9: message" for each diagnostic, without the folder, or "--set: message" for an override. Empty if valid.
inline std::vector<std::string> errors(const std::string& text, const std::vector<std::string>& overrides = {},
                                       const Catalog& plugins = catalog(), const ablate::CountSizes& count = {}) {
  const Folder folder;
  const auto file = folder.write(text);
  std::vector<std::string> result;
  const auto without_folder = [&](std::string message) {
    for (auto at = message.find(file.string()); at != std::string::npos; at = message.find(file.string()))
      message.replace(at, file.string().size(), "FILE");
    return message;
  };
  try {
    ablate::load_study(file, overrides, plugins, {}, count);
  } catch (const ablate::ConfigError& error) {
    for (const auto& d : error.diagnostics()) {
      const auto place =
          d.where.file == "--set" ? "--set" : std::to_string(d.where.line) + ":" + std::to_string(d.where.column);
      result.push_back(place + ": " + without_folder(d.message));
    }
  }
  return result;
}

inline std::vector<std::string> labels(const ablate::Study& study) {
  std::vector<std::string> result;
  for (const auto& trial : study.trials) result.push_back(trial.label);
  return result;
}

}  // namespace studies
