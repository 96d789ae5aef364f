#include "core/trial/conformance/suite.h"

#include <stdexcept>

#include "core/trial/conformance/blame.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/device_checks.h"
#include "core/trial/conformance/finding.h"
#include "core/trial/conformance/task_checks.h"

namespace ablate {

void check_plugin(const Examinee& examinee, Checks& checks) {
  const auto& id = examinee.plugin.id;
  std::vector<Candidate> all;
  try {
    all = candidates(examinee.plugin, examinee.parameters, examinee.parts);
  } catch (const std::exception& error) {
    checks.run("parts", id, kExact, [&](Finding&) { throw std::runtime_error(error.what()); });
    return;
  }
  auto& first = all.front();
  if (first.kind == Kind::kTask) {
    if (examinee.device != "cpu") return checks.leave("device", id, "a task computes on no device");
    return check_task(first, examinee.scratch, examinee.quick, checks);
  }
  if (examinee.device != "cpu") {
    const auto [device, why_not] = find_cuda(examinee.device);
    if (!device) return checks.leave("device", id, why_not);
    if (!first.promises.cuda) return checks.leave("device", id, "cuda is not promised");
    for (auto& candidate : all) candidate.device = *device;
  }
  Blame blame(all);
  const auto judged = [&](const Candidate& candidate, Depth depth) {
    checks.judge([&, depth](Check& check) { blame.judge(candidate, depth, check); }, candidate.parts());
  };
  if (examinee.timed) {
    judged(first, Depth::kFull);
    return check_cost(first, true, checks);
  }
  for (const auto& candidate : all) {
    const auto depth = &candidate == &first && !examinee.quick ? Depth::kFull : Depth::kSmall;
    judged(candidate, depth);
    if (candidate.device.is_cpu() || candidate.promises.cuda) check_candidate(candidate, depth, checks);
    if (examinee.quick) break;
  }
  if (examinee.quick) return;
  judged(first, Depth::kFull);
  check_cost(first, false, checks);
}

}  // namespace ablate
