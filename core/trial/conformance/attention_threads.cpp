// Made in one thread and called from another: nothing that matters is a thread's own, and their number stays.
#include <fmt/format.h>

#include "core/trial/conformance/attention_instances.h"
#include "core/trial/conformance/in_thread.h"

namespace ablate::conformance {
namespace {

/// What a pass in its mode gives, and its gradients.
std::vector<Named> given(const Instance& instance, const Pass& pass) {
  auto result = forward(instance, pass);
  std::vector<Named> all = {{"the output", real(result.output, pass.mask).detach()}};
  for (std::size_t i = 0; i < result.state.size(); ++i)
    all.push_back({fmt::format("state {}", i), result.state[i].detach().to(c10::kCPU)});
  const auto found = gradients(instance, pass, pass.mask);
  for (std::size_t i = 0; i < found.names.size(); ++i) all.push_back({"gradient of " + found.names[i], found.tensors[i]});
  return all;
}

}  // namespace

void threads(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& stand : subject.promised_stands())
    for (const bool training : {false, true}) {
      if (!subject.full() && !(stand == subject.home())) continue;
      const Setting setting{stand, kDouble, training};
      Pass pass{random_tokens(2, n, 2)};
      if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(5)}, n);
      const auto make = [&] { return subject.make(1, setting); };
      keeps_threads([&] { given(*make(), pass); }, setting.text(), finding);
      const auto here = given(*make(), pass);
      const auto made = make(), made_there = in_thread(make);
      finding.near(in_thread([&] { return given(*made, pass); }), here,
                   setting.text() + ", made in one thread and called from another", kRounding);
      finding.near(given(*made_there, pass), here, setting.text() + ", made in a thread that has ended", kRounding);
    }
}

}  // namespace ablate::conformance
