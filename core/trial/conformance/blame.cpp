#include "core/trial/conformance/blame.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/trial/conformance/cost.h"
#include "core/trial/conformance/plugin_checks.h"

namespace ablate {
namespace {

using nlohmann::json;

/// The candidate that a part is by itself.
Candidate alone(const Candidate& whole, json section) {
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

}  // namespace

void check_candidate(const Candidate& candidate, Depth depth, Checks& checks) {
  if (candidate.kind == Kind::kCompression) return check_compression(candidate, depth, checks);
  check_attention(candidate, depth, checks);
  check_training(candidate, checks);
}

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

}  // namespace ablate
