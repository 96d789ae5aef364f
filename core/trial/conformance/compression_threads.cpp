// Made in one thread and called from another: nothing that matters is a thread's own, and their number stays.
#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/in_thread.h"

namespace ablate::conformance {

void threads(const CompressionSubject& subject, Finding& finding) {
  const auto in = inputs_of(subject.length(12), subject.lengths({12, 5, 1}));
  for (const bool training : {false, true}) {
    const CompressionSetting setting{subject.usual(), kDouble, training};
    const auto make = [&] { return subject.make(setting); };
    const auto all_of = [&](const CompressionInstance& instance) {
      const auto found = pass(instance, in);
      auto all = named(found.memory);
      all.insert(all.end(), found.outputs.begin(), found.outputs.end());
      all.insert(all.end(), found.gradients.begin(), found.gradients.end());
      return all;
    };
    keeps_threads([&] { all_of(make()); }, setting.text(), finding);
    const auto here = all_of(make());
    const auto made = make(), made_there = in_thread(make);
    finding.near(in_thread([&] { return all_of(made); }), here, setting.text() + ", made in one thread and called from another",
                 kRounding);
    finding.near(all_of(made_there), here, setting.text() + ", made in a thread that has ended", kRounding);
  }
}

}  // namespace ablate::conformance
