// The state of a start against none: an instance that carries begins as one that does not.
#include <fmt/format.h>

#include "core/trial/conformance/attention_contract.h"
#include "core/trial/conformance/registered.h"

namespace ablate::conformance {
namespace {

/// Whether both register the same, by name and shape: an initial state that is learned is registered where one is carried.
bool alike(const Instance& one, const Instance& other) {
  const auto shapes = [](const Instance& instance) {
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> all;
    for (const auto& entries : {instance.parameters(), instance.buffers()})
      for (const auto& entry : entries) all.emplace_back(entry.name, entry.tensor.sizes().vec());
    return all;
  };
  return shapes(one) == shapes(other);
}

constexpr Allowed kStart{1e-8, "float64, products of decays in another order"};

}  // namespace

void start(const AttentionSubject& subject, Finding& finding) {
  const auto promised = subject.promised_stands();
  for (const auto& stand : subject.carrying())
    for (const bool training : {false, true})
      for (const auto n : subject.short_and_long()) {
        auto without = stand;
        without.carries = false;
        if (std::find(promised.begin(), promised.end(), without.alone()) == promised.end()) continue;
        const Setting setting{stand, kDouble, training}, bare{without, kDouble, training};
        if (subject.draws(setting, finding) || subject.draws(bare, finding)) continue;
        const auto carrying = subject.make(1, setting, n), plain = subject.make(1, bare, n);
        if (!alike(*carrying, *plain)) {
          finding.saw();
          finding.say("of " + stand.text() + " not looked at: it registers something else where nothing is carried");
          continue;
        }
        copy_registered(*plain, *carrying);
        Pass pass{random_tokens(3, n, 2)};
        for (const bool padded : {false, true}) {
          if (padded && !subject.promises().key_padding) continue;
          if (padded) pass.mask = padding_mask({n, subject.length(n * 8 / 13), subject.length(1)}, n);
          finding.near(real(run(*carrying, pass), pass.mask), real(run(*plain, pass), pass.mask),
                       fmt::format("{}, {} tokens{}, with the initial state against an instance that carries none",
                                   setting.text(), n, padded ? ", padded" : ""),
                       kStart);
        }
      }
}

}  // namespace ablate::conformance
