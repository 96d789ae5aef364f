#include "core/host/study/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>

#include "core/host/study/draft.h"
#include "core/records/setting_paths.h"
#include "core/util/flatten.h"
#include "core/util/plain_text.h"
#include "core/util/row_conditions.h"

namespace ablate {
namespace {

constexpr const char* kClaimExample = R"(row = "attention=adamra", against = "attention=softmax", expect = "greater")";
constexpr double kLevel = 0.05;

/// Reads the keys of one claim.
class ClaimReader {
 public:
  ClaimReader(const Node& node, Diagnostics& diagnostics) : node_(node), diagnostics_(diagnostics) {}

  /// Returns false, and adds diagnostics, if the claim has an error.
  bool read(WrittenClaim& into) {
    const auto before = diagnostics_.size();
    into.where = node_.where;
    auto& claim = into.claim;
    for (const auto& child : node_.children) {
      if (child.name == "problem")
        claim.problem = text(child);
      else if (child.name == "row")
        claim.row = text(child), into.row_at = child.where;
      else if (child.name == "against")
        claim.against = text(child), into.against_at = child.where;
      else if (child.name == "metric")
        claim.metric = text(child);
      else if (child.name == "family")
        claim.family = text(child);
      else if (child.name == "floor")
        read_floor(child);
      else if (child.name == "expect")
        read_expect(child, claim);
      else if (child.name == "by")
        read_by(child, claim);
      else
        diagnostics_.add(
            child.key,
            fmt::format("unknown key {} in [[claim]]{}", child.name,
                        suggestion(child.name, {"problem", "row", "against", "floor", "metric", "expect", "by", "family"})));
    }
    if (diagnostics_.size() == before) check(into);
    return diagnostics_.size() == before;
  }

 private:
  std::string text(const Node& node) {
    if (node.value.is_string() && !node.value.get_ref<const std::string&>().empty() &&
        line_refusal(node.value.get<std::string>()).empty())
      return node.value.get<std::string>();
    diagnostics_.add(node.where, fmt::format("{} = {}: expected a text in one line", node.name, show(node.value)));
    return "";
  }

  void read_floor(const Node& node) {
    is_of_floor_ = node.value == true;
    if (!is_of_floor_)
      diagnostics_.add(node.where,
                       fmt::format("floor = {}: expected true; leave it out for a claim about two rows", show(node.value)));
  }

  void read_expect(const Node& node, Claim& claim) {
    const auto& names = Claim::kExpectations;
    const auto found = std::find_if(names.begin(), names.end(), [&](auto name) { return node.value == std::string(name); });
    if (found == names.end())
      diagnostics_.add(node.where, fmt::format("expect = {}: expected {}", show(node.value), fmt::join(names, ", ")));
    else
      claim.expect = static_cast<Claim::Expect>(found - names.begin()), has_expect_ = true;
  }

  void read_by(const Node& node, Claim& claim) {
    if (node.value.is_number() && node.value.get<double>() > 0 && std::isfinite(node.value.get<double>()))
      claim.by = node.value, by_ = &node;
    else
      diagnostics_.add(node.where, fmt::format("by = {}: expected a number above 0, in the metric's unit", show(node.value)));
  }

  void check(const WrittenClaim& written) {
    const auto& claim = written.claim;
    const auto wrong = [&](const std::string& why) { diagnostics_.add(written.where, why); };
    if (claim.problem.empty()) wrong("this claim has no problem; write the question in a few words, problem = \"...\"");
    if (claim.row.empty() || claim.against.empty() != is_of_floor_)
      wrong(fmt::format("a claim is about two rows, or about a row and the floor (floor = true); write {}", kClaimExample));
    if (!has_expect_)
      wrong(
          fmt::format("this claim does not state what is expected; write expect = {}", fmt::join(Claim::kExpectations, ", ")));
    const bool needs_by = claim.expect == Claim::Expect::kNoDifferent;
    if (has_expect_ && needs_by && by_ == nullptr)
      wrong("expect = \"no different\" needs the largest difference that counts as none, in the metric's unit: by = 2.0");
    if (has_expect_ && !needs_by && by_ != nullptr)
      diagnostics_.add(by_->key, fmt::format("by belongs to expect = \"no different\", found expect = \"{}\"; leave it out",
                                             to_text(claim.expect)));
    if (claim.row == claim.against && !claim.row.empty()) wrong("row and against are the same row; expected two");
  }

  const Node& node_;
  Diagnostics& diagnostics_;
  const Node* by_ = nullptr;
  bool is_of_floor_ = false, has_expect_ = false;
};

/// Returns the text of a value as tables show it: lists with commas.
std::string shown(const nlohmann::json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::vector<std::string> all;
  for (const auto& one : value) all.push_back(shown(one));
  return fmt::format("{}", fmt::join(all, ","));
}

/// Settings of a study's reported trials, without seeds and tuned values. Each has the parameters of its first trial.
class ReportedRows {
 public:
  explicit ReportedRows(const Study& study) {
    std::set<std::pair<std::optional<std::int64_t>, SectionNumbers>> seen;
    for (const auto& trial : study.trials)
      if (trial.role == Role::kReported && seen.emplace(trial.cell, trial.cell ? SectionNumbers() : trial.sections).second)
        rows_.push_back(flatten(trial.resolved()));
  }

  /// Returns the number of settings that meet all conditions "PATH=VALUE".
  std::ptrdiff_t count(const std::string& row) const {
    const auto conditions = row_conditions(row);
    return std::count_if(rows_.begin(), rows_.end(), [&](const auto& settings) {
      return std::all_of(conditions.begin(), conditions.end(), [&](const std::string& condition) {
        const auto equals = condition.find('=');
        const auto at = settings.find(history_path(condition.substr(0, equals)));
        return equals != std::string::npos && at != settings.end() && shown(at->second) == condition.substr(equals + 1);
      });
    });
  }

 private:
  std::vector<decltype(flatten({}))> rows_;
};

}  // namespace

void read_claims(const Node& node, std::vector<WrittenClaim>& claims, Diagnostics& diagnostics) {
  const auto is_table = [](const Node& one) { return one.is_table(); };
  if (!node.is_array() || !std::all_of(node.children.begin(), node.children.end(), is_table))
    return diagnostics.add(node.key, fmt::format("claim is a list of tables; write [[claim]], and in it {}", kClaimExample));
  for (const auto& child : node.children)
    if (WrittenClaim claim; ClaimReader(child, diagnostics).read(claim)) claims.push_back(std::move(claim));
}

void check_claims(const std::vector<WrittenClaim>& claims, const Study& study, bool has_smallest, Diagnostics& diagnostics) {
  if (!claims.empty() && !has_smallest)
    diagnostics.add(claims.front().where,
                    "claims need [experiment] smallest: the smallest difference of the main metric that matters in this study, "
                    "as in smallest = 5.0. An undecided claim states the seeds that such a difference needs");
  if (claims.empty()) return;
  const ReportedRows rows(study);
  for (const auto& [claim, where, row_at, against_at] : claims)
    for (const auto& [row, at] : {std::pair(claim.row, row_at), std::pair(claim.against, against_at)})
      if (const auto count = row.empty() ? 1 : rows.count(row); count != 1)
        diagnostics.add(at, fmt::format("{}: found {} rows of the grid with these settings, expected one{}", row, count,
                                        count == 0 ? fmt::format(", as in {}", kClaimExample) : "; name more settings"));
}

std::map<std::string, std::vector<Claim>> families_of(const std::vector<Claim>& claims) {
  std::map<std::string, std::vector<Claim>> families;
  for (const auto& claim : claims) families[claim.family].push_back(claim);
  return families;
}

std::string too_few_seeds_text(const Study& study) {
  std::set<std::uint64_t> seeds;
  for (const auto& trial : study.trials)
    if (trial.role == Role::kReported) seeds.insert(trial.spec.seed);
  const auto least_p = [](std::size_t claims, std::size_t n) {
    return static_cast<double>(claims) * std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(n, 1000)));
  };
  for (const auto& [family, claims] : families_of(study.claims)) {
    if (least_p(claims.size(), seeds.size()) <= kLevel) continue;
    auto least = seeds.size();
    while (least_p(claims.size(), least) > kLevel) ++least;
    return fmt::format(
        "{} claim{} of {} cannot be decided with {} seed{}: the exact test's least p, times the claims, is {:.2g}. "
        "Expected at least {} seeds in grid.seeds, or fewer claims",
        claims.size(), claims.size() == 1 ? "" : "s", family.empty() ? "the study" : "family " + family, seeds.size(),
        seeds.size() == 1 ? "" : "s", least_p(claims.size(), seeds.size()), least);
  }
  return "";
}

StudyClaims claims_of(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  std::vector<WrittenClaim> written;
  Diagnostics diagnostics;
  StudyClaims found{.name = file.stem().string()};
  const auto document = parse_document(text, file.string(), diagnostics);
  if (!document) return found;
  if (const auto* node = document->find("claim")) read_claims(*node, written, diagnostics);
  for (auto& one : written) found.claims.push_back(std::move(one.claim));
  const auto value_of = [&](const std::string& path) -> std::string {
    for (auto at = overrides.rbegin(); at != overrides.rend(); ++at)
      if (const auto [key, value] = split_override(*at); key == path) return value;
    const auto [section, key] = split_path(path);
    const auto* node = document->find(section);
    const auto* value = node == nullptr ? nullptr : node->find(key);
    return value == nullptr || value->value.is_structured() ? "" : shown(value->value);
  };
  if (const auto name = value_of("experiment.name"); !name.empty()) found.name = name;
  found.steps = value_of(setting::kSteps);
  found.context = value_of(setting::kTaskPlugin);
  for (const auto* path : {setting::kTaskLength, setting::kModelLayers, setting::kModelWidth})
    if (const auto value = value_of(path); !value.empty())
      found.context += fmt::format("{}{} {}", found.context.empty() ? "" : ", ", path, value);
  if (!found.steps.empty()) found.context += fmt::format("{}{} steps", found.context.empty() ? "" : ", ", found.steps);
  return found;
}

}  // namespace ablate
