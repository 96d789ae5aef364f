#include "core/trial/conformance/plugin/suite.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/compression/subject.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/plugin/cost.h"
#include "core/trial/conformance/plugin/device_checks.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/task/checks.h"
#include "core/util/error.h"

namespace ablate {
namespace {

/// Returns the reason why a factory or the host refuses the parameters and parts, or "" if they are accepted. An attention may
/// need slots beside tokens, for instance. A compression may refuse some rates but must accept one.
std::string refusal(const Candidate& candidate) {
  if (candidate.kind == Kind::kTask) return "";
  try {
    if (candidate.kind == Kind::kCompression) {
      const CompressionSubject subject(candidate, Depth::kSmall);
      return subject.rates().empty() ? subject.refusals() : "";
    }
    AttentionSubject(candidate).make(1);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  } catch (const Error& refused) {  // the host refuses, for example because a part does not promise what the parameters need
    return refused.what();
  } catch (const std::exception&) {
  }
  return "";
}

/// Returns the candidates that accept their parts, and reports the others as unchecked. Returns all candidates if none accepts.
std::vector<Candidate> without_refused(const std::vector<Candidate>& all, Checks& checks) {
  std::vector<Candidate> taken;
  std::vector<std::pair<std::string, std::string>> refused;
  for (const auto& candidate : all) {
    const auto why = candidate.kind == Kind::kAttention ? refusal(candidate) : "";
    why.empty() ? taken.push_back(candidate) : void(refused.emplace_back(candidate.name(), why));
  }
  if (taken.empty()) return all;
  for (const auto& [name, why] : refused) checks.leave("parts", name, why);
  return taken;
}

/// Runs the checks of an attention or a compression, except time, memory and the checks of the schema.
void check_candidate(const Candidate& candidate, Depth depth, Checks& checks) {
  if (candidate.kind == Kind::kCompression) return check_compression(candidate, depth, checks);
  check_attention(candidate, depth, checks);
  check_training(candidate, checks);
}

/// Returns a candidate of a part by itself.
Candidate alone(const Candidate& whole, nlohmann::json section) {
  const auto id = section.at("plugin").get<std::string>();
  section.erase("plugin");
  const auto* descriptor = [&] {
    try {
      return &whole.find(Kind::kCompression, id);
    } catch (const std::exception&) {
      return &whole.find(Kind::kAttention, id);
    }
  }();
  return whole.beside(*descriptor, section);
}

/// Finds the cause if an attention fails with a plugin among its parameters: the attention, that plugin, or the pair.
class Blame {
 public:
  /// @param all candidates of one plugin, each with other plugins among its parameters. They must outlive this object.
  explicit Blame(const std::vector<Candidate>& all) : all_(all) {}

  /// Judges a failed check. The check stays failed if it also fails with every other candidate. If a part fails by itself, the
  /// check becomes unchecked. If all parts pass alone and another candidate passes, check.part names the parts.
  void judge(const Candidate& candidate, Depth depth, Check& check);

 private:
  /// Runs one check, or all checks if `check` is "". Returns the name of a check that failed, or "" if all passed.
  const std::string& fault(const Candidate& candidate, Depth depth, const std::string& check);

  const std::vector<Candidate>& all_;
  std::map<std::tuple<std::string, Depth, std::string>, std::string> known_;
};

const std::string& Blame::fault(const Candidate& candidate, Depth depth, const std::string& check) {
  const auto [at, is_new] = known_.try_emplace({candidate.section.dump(), depth, check});
  if (!is_new) return at->second;
  Checks checks;
  checks.stop_at_first();
  if (!check.empty()) checks.only({check});
  check == "time" || check == "memory" ? check_cost(candidate, check == "time", checks)
                                       : check_candidate(candidate, depth, checks);
  for (const auto& one : checks.all())
    if (one.failed()) at->second = one.name;
  return at->second;
}

void Blame::judge(const Candidate& candidate, Depth depth, Check& check) {
  const auto with = candidate.parts();
  if (with.empty()) return;
  const Candidate* passing = nullptr;
  bool is_only = true;
  for (const auto& other : all_) {
    if (other.parts() == with) continue;
    is_only = false;
    if (!fault(other, depth, check.name).empty()) continue;
    passing = &other;
    break;
  }
  if (passing == nullptr && !is_only) return;
  const auto beside = passing == nullptr ? "" : fmt::format("; with {} it passes", fmt::join(passing->parts(), ", "));
  for (const auto& section : candidate.part_sections()) {
    const auto part = alone(candidate, section);
    const auto& own = fault(part, depth, "");
    if (own.empty()) continue;
    check.verdict = Verdict::kUnchecked;
    check.found = fmt::format("with {}, which fails {} by itself: {}{}", part.descriptor().id, own, check.found, beside);
    return;
  }
  if (passing == nullptr) return;
  check.part = fmt::format("{}", fmt::join(with, ", "));
  check.found += beside;
}

}  // namespace

std::vector<std::string> check_names() {
  std::vector<std::string> all = {"cuda",  "data",  "device",   "equals", "exemptions", "memory",
                                  "parts", "rates", "training", "time",   "parameters"};
  for (const auto& names : {attention_check_names(), compression_check_names(), task_check_names(), schema_check_names()})
    for (const auto& name : names)
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
  return all;
}

std::string refused_parameters(const Examinee& examinee) {
  std::vector<Candidate> all;
  try {
    all = candidates(examinee.plugin, examinee.parameters, examinee.parts);
  } catch (const std::exception& error) {
    return error.what();
  }
  std::string first;
  for (const auto& candidate : all) {
    const auto why = refusal(candidate);
    if (why.empty()) return "";
    if (first.empty()) first = why;
  }
  return first;
}

void check_plugin(const Examinee& examinee, Checks& checks) {
  const auto& id = examinee.plugin.id;
  std::vector<Candidate> all;
  try {
    all = without_refused(candidates(examinee.plugin, examinee.parameters, examinee.parts), checks);
  } catch (const std::exception& error) {
    checks.run("parts", id, kExact, [&](Finding&) { throw std::runtime_error(error.what()); });
    return;
  }
  auto& first = all.front();
  if (first.kind == Kind::kTask) {
    if (examinee.device != "cpu") return checks.leave("device", id, "a task does not compute on a device");
    check_schema(all, examinee.scratch, checks);
    return check_task(first, examinee.scratch, examinee.quick, checks, examinee.elsewhere);
  }
  if (examinee.device != "cpu") {
    const auto [device, why_not] = find_cuda(examinee.device);
    if (!device) return checks.leave("device", id, why_not);
    if (!first.promises.cuda) return checks.leave("device", id, "cuda is not promised");
    for (auto& candidate : all) candidate.device = *device;
  }
  first.requested_length = examinee.length;
  if (!examinee.timed) check_schema(all, examinee.scratch, checks);
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
