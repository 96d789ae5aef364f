#include "core/trial/conformance/suite.h"

#include <stdexcept>

#include "core/trial/conformance/attention_checks.h"
#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/compression_checks.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/training_check.h"

namespace ablate {
namespace {

/// Why an attention refuses the parts that it was given, as one that asks for slots beside tokens does; empty: it takes them.
std::string refusal(const Candidate& candidate) {
  if (candidate.kind != Kind::kAttention) return "";
  try {
    AttentionSubject(candidate).make(1);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  } catch (const std::exception&) {
  }
  return "";
}

/// Without those whose parts it refuses, each of which is told, unless it refuses all.
std::vector<Candidate> without_refused(const std::vector<Candidate>& all, Checks& checks) {
  std::vector<Candidate> taken;
  std::vector<std::pair<std::string, std::string>> refused;
  for (const auto& candidate : all) {
    const auto why = refusal(candidate);
    why.empty() ? taken.push_back(candidate) : void(refused.emplace_back(candidate.name(), why));
  }
  if (taken.empty()) return all;
  for (const auto& [name, why] : refused) checks.leave("parts", name, why);
  return taken;
}

}  // namespace

void check_plugin(const Examinee& examinee, Checks& checks) {
  std::vector<Candidate> all;
  try {
    all = without_refused(candidates(examinee.plugin, examinee.parameters, examinee.parts), checks);
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
