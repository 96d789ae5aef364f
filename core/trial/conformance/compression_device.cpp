// What a compression gives on a device, for the comparison with the CPU (device_checks.h).
#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/device_checks.h"

namespace ablate {

std::vector<Computed> compression_on(const Candidate& candidate, c10::Device device) {
  using namespace conformance;
  const CompressionSubject subject(candidate, Depth::kSmall);
  constexpr std::int64_t longest = 33;  // which no usual block divides
  std::vector<Computed> all;
  for (const bool training : {false, true})
    for (const bool padded : {false, true}) {
      const auto n = subject.length(longest);
      auto in = inputs_of(n, padded ? subject.lengths({n, 5, 0}) : std::vector<std::int64_t>{}).to(kFloat);
      for (auto* tensor : {&in.queries, &in.keys, &in.values, &in.mask})
        if (tensor->defined()) *tensor = tensor->to(device);
      const auto compression = subject.make({subject.usual(), kFloat, training});
      move_to(*compression, device, kFloat);
      const auto found = pass(*compression, in);
      if (found.drew) continue;  // a device draws other numbers
      const auto add = [&](const std::vector<Named>& results) {
        for (const auto& [what, value] : results)
          all.push_back({what + (padded ? ", padded" : "") + (training ? ", in training" : ""), value.to(c10::kCPU)});
      };
      add(named(found.memory));
      add(found.outputs);
      add(found.gradients);
    }
  return all;
}

}  // namespace ablate
