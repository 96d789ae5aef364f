#include "core/trial/conformance/suite.h"

#include <stdexcept>

#include "core/trial/conformance/attention_checks.h"
#include "core/trial/conformance/compression_checks.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/training_check.h"

namespace ablate {

void check_plugin(const Examinee& examinee, Checks& checks) {
  std::vector<Candidate> all;
  try {
    all = candidates(examinee.plugin, examinee.parameters, examinee.parts);
  } catch (const std::exception& error) {
    checks.run("parts", examinee.plugin.id, kExact, [&](Finding&) { throw std::runtime_error(error.what()); });
    return;
  }
  if (examinee.device != "cpu") {
    if (all.front().kind == Kind::kTask) return checks.leave("cuda", examinee.plugin.id, "a task computes on no device");
    for (const auto& candidate : all)
      candidate.kind == Kind::kAttention ? check_attention_on(candidate, examinee.device, checks)
                                         : check_compression_on(candidate, examinee.device, checks);
    return;
  }
  if (examinee.timed) {
    if (all.front().kind != Kind::kTask) check_cost(all.front(), true, checks);
    return;
  }
  if (examinee.quick) all.resize(1);
  for (const auto& candidate : all) {
    const auto depth = &candidate == &all.front() && !examinee.quick ? Depth::kFull : Depth::kSmall;
    switch (candidate.kind) {
      case Kind::kAttention:
        check_attention(candidate, depth, checks);
        check_training(candidate, checks);
        break;
      case Kind::kCompression:
        check_compression(candidate, depth, checks);
        break;
      case Kind::kTask:
        return check_task(candidate, examinee.scratch, examinee.quick, checks);
    }
  }
  if (!examinee.quick) check_cost(all.front(), false, checks);
}

}  // namespace ablate
