// What a compression gives on its device, for the comparison with the CPU (device_checks.h).
#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/device_checks.h"

namespace ablate {

std::vector<Named> compression_results(const Candidate& candidate) {
  using namespace conformance;
  const CompressionSubject subject(candidate, Depth::kSmall);
  constexpr std::int64_t longest = 33;  // which no usual block divides
  std::vector<Named> all;
  for (const bool training : {false, true})
    for (const bool padded : {false, true}) {
      const auto n = subject.length(longest);
      const auto in = inputs_of(n, padded ? subject.lengths({n, 5, 0}) : std::vector<std::int64_t>{}).to(kFloat);
      const auto found = pass(*subject.make({subject.usual(), kFloat, training}), in);
      if (found.drew) continue;  // a device draws other numbers
      for (const auto& results : {named(found.memory), found.outputs, found.gradients})
        for (const auto& [what, value] : results)
          all.push_back({what + (padded ? ", padded" : "") + (training ? ", in training" : ""), value});
    }
  return all;
}

}  // namespace ablate
