// Settings of ablate's own studies, as text. Keys and documents of a history depend on this text, so no version may change it.
#include "core/host/scheduler/identity.h"
#include "core/host/study/study.h"
#include "core/util/sha256.h"
#include "tests/end-to-end/built_plugins.h"
#include "tests/support/catch.h"

namespace {

struct Pinned {
  const char* study;
  std::size_t trials;
  std::string settings, documents;  ///< SHA-256 of all trials' texts
};

/// Parameters that were added after the texts were pinned. Documents contain the defaults of these parameters, and
/// settings do not.
constexpr std::pair<const char*, const char*> kLater[] = {
    {"train", "optimizer"}, {"train", "momentum"},     {"train", "kernels"},     {"train", "decayed"},
    {"train", "test_last"}, {"train", "cosine_floor"}, {"train", "cooldown"},    {"train", "cooldown_shape"},
    {"train", "graphs"},    {"model", "norm_type"},    {"model", "feed_forward"}};
/// Pairs of a plugin and its parameter that was added later, in any section.
constexpr std::pair<const char*, const char*> kLaterOfPlugins[] = {{"softmax", "key_value_heads"},
                                                                   {"softmax", "forget_gate"},
                                                                   {"softmax", "gate"},
                                                                   {"softmax", "latent"},
                                                                   {"softmax", "qk_norm"},
                                                                   {"softmax", "sink"},
                                                                   {"softmax", "span_examples"},
                                                                   {"linear", "convolution"},
                                                                   {"performer", "convolution"},
                                                                   {"performer", "orthogonal"},
                                                                   {"retention", "norm_kind"},
                                                                   {"routing", "commitment"},
                                                                   {"delta", "erase"},
                                                                   {"delta", "write"},
                                                                   {"delta", "negative_eigenvalues"},
                                                                   {"delta", "householder_steps"}};

void erase_later(nlohmann::json& section) {
  if (!section.is_structured()) return;
  if (section.is_object() && section.contains("plugin"))
    for (const auto& [plugin, parameter] : kLaterOfPlugins)
      if (section.at("plugin") == plugin) REQUIRE(section.erase(parameter) == 1);
  for (auto& part : section) erase_later(part);
}

}  // namespace

TEST_CASE("settings and documents of four studies are written as in the versions that recorded these digests") {
  const auto catalog = built_plugins();
  const Pinned pinned[] = {
      {"quickstart", 12, "5531eaba123cd66b3dc52c8bf7ed4b61940805ef0b1cd10758b5f93380be7f26",
       "a027ad12b906f48e44c43ec97522f6fa5a324aeafb70ca5b63ea59d9ffbfc9f8"},
      {"every-attention-recall", 68, "c22cd970dd461749d801c348e38b1ab37fab481fc2827e2f3ed532c56a6c7ecb",
       "a5c1ab774a23f7d1caae4c17b4b96b85df0a2b7bbd614ba0fbbca478ca3e7ad6"},
      {"recall", 16, "433e6f4e0c0ef6777b32ee70c9b23080d0608b6af737c35b19f24673bc47ea8a",
       "be3fcfa331367641a6680d7c09b7a1d24f979c23a22dce01ed4b96e51cb4e5db"},
      {"transactions", 35, "dac5cf0c4c2e074203b793c7c51fba2d8277046f0f1349fbacdb7ee2f954438c",
       "6191050691b2d4a8e356f48af1c1964544b2286e1721e6c94e3330ca7451b9f3"},
  };
  for (const auto& [name, count, settings, documents] : pinned) {
    INFO(name);
    const auto study = ablate::load_study(
        std::filesystem::path(ABLATE_SOURCE_DIR) / "experiments" / (std::string(name) + ".toml"), {}, catalog);
    std::string all_settings, all_documents;
    for (const auto& trial : study.trials) {
      all_settings += ablate::identity_of(trial.spec, trial.files, catalog, "", "").settings.dump() + "\n";
      auto document = trial.resolved();
      for (const auto& [section, parameter] : kLater) REQUIRE(document.at(section).erase(parameter) == 1);
      erase_later(document);
      all_documents += document.dump() + "\n";
    }
    CHECK(study.trials.size() == count);
    CHECK(ablate::sha256(all_settings) == settings);
    CHECK(ablate::sha256(all_documents) == documents);
  }
}
