#include "core/trial/conformance/plugin/device_checks.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/compression/subject.h"
#include "core/trial/device/device.h"

namespace ablate {
namespace {

constexpr Allowed kTolerance{1e-3, "float32, sums in another order; a wrong kernel is off by far more"};
constexpr std::int64_t kLength = 33;  ///< no usual block size divides this length

void append(std::vector<Named>& all, const std::string& how, const AttentionSubject& subject, const Stand& stand,
            const Pass& pass) {
  const auto instance = subject.make(1, stand, kFloat);
  const auto add = [&](const std::string& what, const Tensor& value) {
    all.push_back({what + ", " + how, value.detach().to(c10::kCPU)});
  };
  const auto where = pass.context.defined() ? Tensor() : pass.mask;
  const auto [output, state, loss, metrics] = forward(*instance, pass);
  add("the output", real(output, where));
  for (const auto& tensor : state) {
    if (tensor.device() != instance->device()) throw std::runtime_error("a state is on " + tensor.device().str());
    add("a state", tensor);
  }
  if (loss.defined()) add("the auxiliary loss", loss);
  const auto found = gradients(*instance, pass, where);
  for (const auto& [what, value] : found) add("the " + what, value);
}

}  // namespace

OtherDevice find_cuda(const std::string& name) {
  if (!cuda_driver_present()) return {{}, "no CUDA device on this machine"};
  try {
    return {open_device(name), ""};
  } catch (const std::exception& error) {
    return {{}, error.what()};
  }
}

std::vector<Named> attention_results(const Candidate& candidate) {
  const AttentionSubject subject(candidate);
  const auto n = subject.length(kLength);
  const auto tokens = random_tokens(3, n, 2, kFloat);
  const auto& promises = subject.promises();
  std::vector<Named> all;
  for (const auto& stand : subject.stands()) append(all, stand.text(), subject, stand, {tokens});
  if (promises.key_padding)
    append(all, "padded", subject, subject.home(), {tokens, {}, padding_mask({n, subject.length(8), 1}, n)});
  if (promises.cross_attention)
    append(all, "cross", subject, subject.home(), {random_tokens(3, subject.length(5), 3, kFloat), tokens});
  return all;
}

std::vector<Named> compression_results(const Candidate& candidate) {
  using namespace conformance;
  const CompressionSubject subject(candidate, Depth::kSmall);
  std::vector<Named> all;
  for (const bool training : {false, true})
    for (const bool padded : {false, true}) {
      const auto n = subject.length(kLength);
      const auto in = inputs_of(n, padded ? subject.lengths({n, 5, 0}) : std::vector<std::int64_t>{}).to(kFloat);
      const auto found = pass(*subject.make({subject.usual(), kFloat, training}), in);
      if (found.drew) continue;  // another device draws other numbers
      for (const auto& results : {named(found.memory), found.outputs, found.gradients})
        for (const auto& [what, value] : results)
          all.push_back({what + (padded ? ", padded" : "") + (training ? ", in training" : ""), value});
    }
  return all;
}

void check_cuda(const Candidate& candidate, Checks& checks) {
  if (!candidate.promises.cuda) return;
  const auto other = candidate.device.is_cpu() ? find_cuda() : OtherDevice{candidate.device, ""};
  const auto compute = [&](c10::Device device) {
    auto there = candidate;
    there.device = device;
    return candidate.kind == Kind::kAttention ? attention_results(there) : compression_results(there);
  };
  check_device(candidate.name() + ", [3, 33, ...] float32", compute, other, checks);
}

void check_device(const std::string& on, const ComputeOn& compute, const OtherDevice& other, Checks& checks) {
  if (!other.device) return checks.leave("cuda", on, other.why_not);
  checks.run("cuda", on, kTolerance, [&](Finding& finding) {
    const auto expected = compute(c10::kCPU), found = compute(*other.device);
    if (found.size() != expected.size())
      throw std::runtime_error(
          fmt::format("{} results on {}, {} on the CPU", found.size(), other.device->str(), expected.size()));
    finding.near(found, expected, "", kTolerance);
  });
}

}  // namespace ablate
