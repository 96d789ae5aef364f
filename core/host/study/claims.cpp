#include "core/host/study/claims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
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
        read_metric(child, claim);
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

  void read_metric(const Node& node, Claim& claim) {
    claim.metric = text(node);
    if (const auto why = claim.metric.empty() ? "" : refuse_metric(claim.metric); !why.empty())
      diagnostics_.add(node.where, why);
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

/// Returns the text of a value that is no list, as tables show it.
std::string shown(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

/// Distinct settings of a study's reported trials, without seeds and tuned values.
class ReportedRows {
 public:
  explicit ReportedRows(const Study& study) {
    std::map<std::pair<std::optional<std::int64_t>, SectionNumbers>, std::size_t> places;
    for (const auto& trial : study.trials) {
      if (trial.role != Role::kReported) continue;
      const auto [at, fresh] = places.try_emplace({trial.cell, trial.cell ? SectionNumbers() : trial.sections}, rows_.size());
      if (fresh) rows_.push_back({flatten(trial.resolved()), {}});
      rows_[at->second].seeds.insert(trial.spec.seed);
    }
  }

  /// Returns the indices of the settings that meet all conditions "PATH=VALUE" of a row.
  std::vector<std::size_t> of(const std::string& row) const {
    const auto conditions = row_conditions(row);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (std::all_of(conditions.begin(), conditions.end(), [&](const std::string& condition) {
            const auto equals = condition.find('=');
            const auto at = rows_[i].settings.find(history_path(condition.substr(0, equals)));
            return equals != std::string::npos && at != rows_[i].settings.end() &&
                   is_same_value(shown(at->second), condition.substr(equals + 1));
          }))
        found.push_back(i);
    return found;
  }

  /// Returns the number of seeds that both rows of a claim have. Each row must be one setting.
  std::size_t seeds_of(const Claim& claim) const {
    const auto& own = rows_[of(claim.row).front()].seeds;
    if (claim.is_of_floor()) return own.size();
    const auto& others = rows_[of(claim.against).front()].seeds;
    return static_cast<std::size_t>(std::count_if(own.begin(), own.end(), [&](auto seed) { return others.contains(seed); }));
  }

 private:
  struct Row {
    decltype(flatten({})) settings;
    std::set<std::uint64_t> seeds;
  };
  std::vector<Row> rows_;
};

/// Returns why a claim cannot name a parameter, or "".
std::string refuse_condition(const std::string& condition, const Study& study) {
  const auto path = history_path(condition.substr(0, condition.find('=')));
  if (path == setting::kSeed) return "a claim is about all seeds of a row; leave seed out";
  return study.tunes(path) ? fmt::format("dev chooses {} in each row; leave it out", path) : "";
}

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
  std::vector<Claim> seen;
  for (const auto& [claim, where, row_at, against_at] : claims) {
    std::vector<std::size_t> both;
    for (const auto& [row, at] : {std::pair(claim.row, row_at), std::pair(claim.against, against_at)}) {
      if (row.empty()) continue;
      for (const auto& condition : row_conditions(row))
        if (const auto why = refuse_condition(condition, study); !why.empty()) diagnostics.add(at, row + ": " + why);
      const auto found = rows.of(row);
      if (found.size() == 1)
        both.push_back(found.front());
      else
        diagnostics.add(at, fmt::format("{}: found {} rows of the grid with these settings, expected one{}", row, found.size(),
                                        found.empty() ? fmt::format(", as in {}", kClaimExample) : "; name more settings"));
    }
    if (both.size() == 2 && both.front() == both.back())
      diagnostics.add(where, "row and against are the same row; expected two");
    if (std::find(seen.begin(), seen.end(), claim) != seen.end())
      diagnostics.add(where, "this claim is made twice, and would count twice in its family; leave one out");
    seen.push_back(claim);
  }
}

std::vector<ClaimFamily> families_of(const Study& study) {
  if (study.claims.empty()) return {};  // a large grid need not be searched
  const ReportedRows rows(study);
  std::map<std::string, ClaimFamily> families;
  for (const auto& claim : study.claims) {
    auto& family = families.try_emplace(claim.family, ClaimFamily{claim.family, 0, SIZE_MAX}).first->second;
    ++family.claims;
    family.seeds = std::min(family.seeds, rows.seeds_of(claim));
  }
  std::vector<ClaimFamily> all;
  for (auto& [unused, family] : families) all.push_back(std::move(family));
  return all;
}

StudyClaims claims_of(const std::string& text, const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  std::vector<WrittenClaim> written;
  Diagnostics diagnostics;
  StudyClaims found{.name = file.stem().string()};
  const auto document = parse_document(text, file.string(), diagnostics);
  if (const auto* node = document ? document->find("claim") : nullptr) read_claims(*node, written, diagnostics);
  if (!diagnostics.empty()) throw ConfigError(diagnostics.sorted());
  for (auto& one : written) found.claims.push_back(std::move(one.claim));
  const auto value_of = [&](const std::string& path) {
    const auto value = written_value(*document, path, overrides);
    return value.is_null() || value.is_structured() ? "" : shown(value);
  };
  if (const auto name = value_of("experiment.name"); !name.empty()) found.name = name;
  for (const auto* path :
       {setting::kTaskPlugin, setting::kTaskLength, setting::kModelLayers, setting::kModelWidth, setting::kSteps})
    found.context.emplace_back(history_path(path), value_of(path));
  return found;
}

}  // namespace ablate
