#include "core/host/study/matching.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "core/host/study/point.h"
#include "core/host/study/resolver.h"
#include "core/host/study/rules.h"
#include "core/host/study/start_checks.h"
#include "core/records/setting_paths.h"
#include "core/records/study_match.h"
#include "core/util/row_conditions.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Reads a value as an override writes it. Also reads rates as tables write them, with commas between the rates.
json value_of(const std::string& path, const std::string& text, const GridMatch& match, const Schema& schema) {
  Diagnostics unheard;
  const auto node = parse_value(text, match.reference_at, unheard);
  if (!node) return text;
  const auto [section, key] = split_path(path);
  const auto all = schema.find_all(section, key);
  const bool is_of_rates =
      std::any_of(all.begin(), all.end(), [](const auto* one) { return one->type == ParameterType::kRates; });
  if (!is_of_rates || !node->value.is_string()) return node->value;
  auto rates = json::array();
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    rates.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return rates;
}

void refuse_match_width(const GridMatch& match, Diagnostics& diagnostics, const std::string& why) {
  diagnostics.add(match.width_at, fmt::format("grid.match.width = {}: {}", match.asked.width, why));
}

/// Reports a width that is not an integer parameter of a model or an attention, and a width that the grid or its rules name.
/// The draft must have a match.
void check_match_width(const Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  const auto& match = *draft.match;
  const auto refuse_width = [&](const std::string& why) { refuse_match_width(match, diagnostics, why); };
  const auto& path = match.asked.width;
  if (const auto why = schema.refuse_path(path); !why.empty()) return refuse_width(why);
  const auto [section, key] = split_path(path);
  const auto all = schema.find_all(section, key);
  const bool is_of_model = split_first(path).first == section::kModel || split_first(path).first == section::kAttention;
  if (!is_of_model || all.empty() ||
      std::any_of(all.begin(), all.end(), [](const auto* one) { return one->type != ParameterType::kInteger; }))
    return refuse_width("expected a whole number of [model] or of an attention, as model.hidden");
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (set.path == path)
          return diagnostics.add(set.key, fmt::format("{} is the width that grid.match solves for, and the grid sets it, too; "
                                                      "keep one of the two",
                                                      path));
  for (const auto* rules : {&draft.rules, &draft.published_rules})
    for (const auto& rule : *rules)
      for (const auto& entry : rule.entries)
        if (entry.path == path)
          diagnostics.add(entry.key, fmt::format("{} cannot be named: grid.match solves for it; name other parameters", path));
}

/// Returns the settings that name the reference, as a rule of the grid.
Rule match_reference(const GridMatch& match, const Schema& schema, Diagnostics& diagnostics) {
  Rule rule{match.reference_at, {}};
  for (const auto& condition : row_conditions(match.asked.reference)) {
    auto [path, text] = split_override(condition);
    if (path.empty() || text.empty()) {
      diagnostics.add(match.reference_at, fmt::format("grid.match.{} = \"{}\": expected settings, PATH=VALUE with blanks "
                                                      "between, as \"attention=softmax attention.heads=2\"",
                                                      match.asked.number, match.asked.reference));
      continue;
    }
    if (schema.kind_of(path)) path += ".plugin";
    rule.entries.push_back({path, value_of(path, text, match, schema), match.reference_at, match.reference_at});
  }
  return rule;
}

using Chosen = std::vector<std::size_t>;  ///< an alternative of each group except the seeds

/// All trials that differ only in their seeds.
struct Setting {
  Chosen chosen;
  Trial trial;               ///< with the study's own width
  const PluginInfo* plugin;  ///< plugin of the width's section; null for [model]
  bool is_reference;
};

/// Writes a value as tables do: a list of texts with commas between them.
std::string bare(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array() || !std::all_of(value.begin(), value.end(), [](const auto& one) { return one.is_string(); }))
    return show(value);
  return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ","));
}

json::json_pointer pointer_to(const std::string& path) {
  auto text = "/" + path;
  std::replace(text.begin(), text.end(), '.', '/');
  return json::json_pointer(text);
}

/// Pairs each setting with its reference, and solves for the setting's width.
class Matching {
 public:
  Matching(const Draft& draft, const Schema& schema, const CountSizes& count, Diagnostics& diagnostics)
      : draft_(draft), match_(*draft.match), schema_(schema), count_(count), diagnostics_(diagnostics) {}

  /// Returns the group of widths, without alternatives if an error was reported.
  Group solve(std::vector<MatchedSetting>& matched) {
    const auto before = diagnostics_.size();
    check_match_width(draft_, schema_, diagnostics_);
    rules_ = {match_reference(match_, schema_, diagnostics_)};
    Rules reference(rules_, "reference of grid.match", schema_, diagnostics_);
    if (diagnostics_.size() == before) read_settings(reference);
    Group group{.form = Group::Form::kMatched, .where = match_.width_at, .alternatives = {}};
    if (diagnostics_.size() != before) return group;
    group.alternatives.push_back({match_.width_at, {}, {}});  // for references: sets no width
    std::map<std::int64_t, std::size_t> known;
    for (const auto& setting : settings_) {
      stop_if_asked();
      if (setting.is_reference) {
        group.found[setting.chosen] = 0;
        continue;
      }
      const auto found = solve(setting);
      if (!found) break;  // the other settings probably have the same error
      const auto [at, is_new] = known.try_emplace(found->width, group.alternatives.size());
      if (is_new)
        group.alternatives.push_back(
            {match_.width_at, {{match_.asked.width, found->width, match_.width_at, match_.width_at}}, {}});
      group.found[setting.chosen] = at->second;
      if (std::find(matched.begin(), matched.end(), *found) == matched.end()) matched.push_back(*found);
    }
    return group;
  }

 private:
  void read_settings(Rules& reference) {
    const auto before = diagnostics_.size();
    Rules exclude(draft_.rules, "exclude rule", schema_, diagnostics_);
    Resolver resolver(draft_, schema_, diagnostics_);
    std::set<Chosen> seen;
    if (count_points(draft_) > kMostTrials) return;  // reported later
    each_point(draft_, [&](const Point& point) {
      stop_if_asked();
      const Chosen chosen(point.alternatives.begin(), point.alternatives.end() - 1);
      if (seen.contains(chosen) || !exclude.matching(point).empty()) return;
      seen.insert(chosen);
      auto trial = resolver.resolve(point);
      if (!trial) return;
      trial->spec.seed = 0;
      const auto own = trial->spec.train;
      trial->spec.train = any_training();
      trial->spec.train.dtype = own.dtype, trial->spec.train.own = own.own;  // a state's bytes depend on the number type
      const auto* plugin = plugin_of(schema_, point, split_path(match_.asked.width).first);
      settings_.push_back({chosen, std::move(*trial), plugin, !reference.matching(point).empty()});
    });
    if (diagnostics_.size() != before) return;
    const auto references = static_cast<std::size_t>(
        std::count_if(settings_.begin(), settings_.end(), [](const auto& one) { return one.is_reference; }));
    if (!settings_.empty() && (references == 0 || references == settings_.size()))
      diagnostics_.add(match_.reference_at,
                       fmt::format("grid.match: {} setting of the grid is the reference {}; {}, or leave the match out with "
                                   "--set {}=N",
                                   references == 0 ? "no" : "every", match_.asked.reference,
                                   references == 0 ? "name a setting of the grid" : "name the settings that distinguish it",
                                   match_.asked.width));
    for (const auto& setting : settings_)
      if (setting.is_reference) references_[shared(setting)].push_back(&setting);
  }

  /// Returns a setting's values in the grid as text, except values of [train].
  std::string text_of(const Setting& setting) const {
    std::string text;
    for (std::size_t g = 0; g < setting.chosen.size(); ++g)
      for (const auto& set : draft_.groups[g].alternatives[setting.chosen[g]].set) {
        auto path = set.path;
        if (split_first(path).first == to_text(TrialSection::kTrain)) continue;
        if (path.ends_with(".plugin")) path.resize(path.size() - std::string(".plugin").size());
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", path, bare(set.value));
      }
    return text.empty() ? "the other setting" : text;
  }

  bool names_reference(const Group& group) const {
    const auto paths = group.paths();
    const auto& entries = rules_.front().entries;
    return std::any_of(entries.begin(), entries.end(),
                       [&](const auto& entry) { return std::find(paths.begin(), paths.end(), entry.path) != paths.end(); });
  }

  /// Returns the alternatives that a setting and its reference share.
  Chosen shared(const Setting& setting) const {
    Chosen all;
    for (std::size_t g = 0; g < setting.chosen.size(); ++g)
      if (!names_reference(draft_.groups[g])) all.push_back(setting.chosen[g]);
    return all;
  }

  const Setting* reference_of(const Setting& setting) {
    const auto& found = references_[shared(setting)];
    if (found.size() == 1) return found.front();
    const auto message =
        found.empty() ? fmt::format(
                            "grid.match: found no reference {} for {}, expected a setting that differs from it only in parts "
                            "of the grid that name the reference. If only the setting or only the reference has a value, put "
                            "that value in a row of the grid",
                            match_.asked.reference, text_of(setting))
                      : fmt::format(
                            "grid.match: found {} references for {}, expected one; the first are {} and {}. Name more values "
                            "of the reference, as \"attention=softmax attention.heads=2\"",
                            found.size(), text_of(setting), text_of(*found[0]), text_of(*found[1]));
    diagnostics_.add(match_.reference_at, message);
    return nullptr;
  }

  std::optional<MatchedSetting> solve(const Setting& setting) try {
    const auto* reference = reference_of(setting);
    if (reference == nullptr) return std::nullopt;
    const auto [section, key] = split_path(match_.asked.width);
    const auto* limits = Schema::find(section, setting.plugin, key);
    if (limits == nullptr) {
      refuse_match_width(match_, diagnostics_,
                         fmt::format("{} has no such width; name a width of all settings, as model.hidden", text_of(setting)));
      return std::nullopt;
    }
    const auto target = target_of(*reference);
    if (!target) return std::nullopt;
    const auto document = to_json(setting.trial.spec);
    const auto at = pointer_to(match_.asked.width);
    const auto counted_at = [&](const std::vector<std::int64_t>& widths) {
      std::vector<Trial> trials;
      for (const auto width : widths) {
        auto changed = document;
        changed[at] = width;
        trials.push_back(setting.trial);
        trials.back().spec = trial_from_json(changed);
      }
      return counted(trials);
    };
    // A width of 0 means a missing part, or a default width. It is kept if its number matches. The search never tries 0.
    const WidthRange range{std::max<std::int64_t>(1, static_cast<std::int64_t>(limits->minimum)),
                           static_cast<std::int64_t>(limits->maximum)};
    const auto own = document.at(at).get<std::int64_t>();
    if (match_.asked.is_of_state() && counted_at({own}).front() == CountedWidth{}) {
      diagnostics_.add(match_.reference_at,
                       fmt::format("grid.match: {} has no state bytes; leave it out, or match parameters", text_of(setting)));
      return std::nullopt;
    }
    auto& found = solved_[fmt::format("{} {}", *target, document.dump())];
    if (!found && own < range.least)
      if (const auto at_own = counted_at({own}).front(); at_own.refused.empty() && is_matched(at_own.number, *target))
        found = FoundWidth{own, at_own.number, ""};
    if (!found) found = find_width(range, std::max(range.least, own), *target, counted_at);
    if (!found->failed.empty()) {
      refuse_match_width(match_, diagnostics_, fmt::format("{}: {}; name another width", text_of(setting), found->failed));
      return std::nullopt;
    }
    return MatchedSetting{text_of(setting), found->width, found->number, *target};
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    diagnostics_.add(match_.where, fmt::format("grid.match: {}", error.what()), error.code());
    return std::nullopt;
  }

  std::vector<CountedWidth> counted(const std::vector<Trial>& trials) {
    std::vector<CountedWidth> all;
    for (const auto& sizes : count_(trials))
      all.push_back({match_.asked.is_of_state() ? sizes.state_bytes : sizes.parameters, sizes.refused});
    return all;
  }

  /// Returns the reference's number, or nullopt and a diagnostic if it has none.
  std::optional<std::int64_t> target_of(const Setting& reference) {
    auto& known = targets_[reference.chosen];
    if (!known) known = counted({reference.trial}).front();
    if (known->refused.empty() && known->number > 0) return known->number;
    const auto why = known->refused.empty() ? fmt::format("it has no {}", match_.asked.text()) : known->refused;
    diagnostics_.add(
        match_.reference_at,
        fmt::format("grid.match: the reference {}: {}; {}", text_of(reference), why,
                    match_.asked.is_of_state() ? "only attentions with a state have state bytes, and only on a stream"
                                               : "name another reference"));
    return std::nullopt;
  }

  const Draft& draft_;
  const GridMatch& match_;
  const Schema& schema_;
  const CountSizes& count_;
  Diagnostics& diagnostics_;
  std::vector<Rule> rules_;  ///< one rule: the reference
  std::vector<Setting> settings_;
  std::map<Chosen, std::vector<const Setting*>> references_;  ///< by shared()
  std::map<Chosen, std::optional<CountedWidth>> targets_;
  std::map<std::string, std::optional<FoundWidth>> solved_;  ///< by target and trial
};

using Widths = std::vector<std::int64_t>;

class WidthSearch {
 public:
  WidthSearch(const WidthRange& range, std::int64_t begin, std::int64_t target,
              const std::function<std::vector<CountedWidth>(const Widths&)>& count)
      : range_(range), begin_(begin), target_(target), count_(count) {}

  FoundWidth find() {
    ask({begin_, begin_ + 1, begin_ < range_.most ? begin_ : begin_ - 1});
    if (const auto own = number_at(begin_); own && is_matched(*own, target_)) return {begin_, *own, ""};
    if (find_steps()) bisect();
    return nearest();
  }

 private:
  void ask(const Widths& widths) {
    Widths wanted;
    for (const auto width : widths)
      if (width >= range_.least && width <= range_.most && !known_.contains(width) &&
          known_.size() + wanted.size() < kMostCounts)
        if (std::find(wanted.begin(), wanted.end(), width) == wanted.end()) wanted.push_back(width);
    if (wanted.empty()) return;
    const auto counted = count_(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) known_[wanted[i]] = counted.at(i);
  }

  /// Returns nullopt if the width is refused, or was not counted.
  std::optional<std::int64_t> number_at(std::int64_t width) const {
    const auto found = known_.find(width);
    return found == known_.end() || !found->second.refused.empty() ? std::nullopt : std::optional(found->second.number);
  }

  Widths accepted() const {
    Widths all;
    for (const auto& [width, counted] : known_)
      if (counted.refused.empty()) all.push_back(width);
    return all;
  }

  /// Finds the accepted widths: every `step_`th from `anchor_` on. Returns false if fewer than two are accepted.
  bool find_steps() {
    for (const std::int64_t sign : {1, -1}) {
      if (accepted().size() >= 2) break;
      Widths near;
      for (const std::int64_t offset : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64})
        near.push_back(begin_ + sign * offset);
      ask(near);
    }
    const auto all = accepted();
    if (all.size() < 2) return false;
    anchor_ = *std::ranges::min_element(all, {}, [&](auto width) { return std::abs(width - begin_); });
    step_ = range_.most;
    for (const auto width : all)
      if (width != anchor_) step_ = std::min(step_, std::abs(width - anchor_));
    return true;
  }

  /// Returns the next width in a direction, about twice or half as large; `width` itself at the end of the range.
  std::int64_t beyond(std::int64_t width, bool up) const {
    const auto wanted = up ? std::max(2 * width, width + step_) : std::min(width / 2, width - step_);
    return on_steps(std::clamp(wanted, range_.least, range_.most));
  }

  std::int64_t on_steps(std::int64_t width) const { return anchor_ + (width - anchor_) / step_ * step_; }

  /// Searches between a width that is too small and a width that is too large, until no accepted width is left between them.
  void bisect() {
    const auto ends = [&] {
      const auto all = accepted();
      return std::pair(*number_at(all.front()), *number_at(all.back()));
    };
    constexpr int kLooks = 4;  // the number may change in larger steps than the width
    auto larger = anchor_, smaller = anchor_;
    for (int i = 0; i < kLooks && (i == 0 || ends().first == ends().second); ++i) {
      larger = beyond(larger, true), smaller = beyond(smaller, false);
      ask({larger, smaller});
    }
    const auto [least, most] = ends();
    if (least == most) return;
    const bool grows = least < most;
    const auto is_short = [&](std::int64_t number) { return grows ? number < target_ : number > target_; };
    const bool up = is_short(*number_at(anchor_));
    const auto is_far = [&](std::int64_t width) {
      ask({width});
      const auto number = number_at(width);
      return !number || is_short(*number) != up;
    };
    auto near = anchor_, far = beyond(near, up);
    while (!is_far(far)) {
      near = far, far = beyond(near, up);
      if (near == far) return;  // the range ends before the number is reached
    }
    while (std::abs(far - near) > step_ && known_.size() < kMostCounts) {
      const auto middle = on_steps(near + (far - near) / 2);
      (is_far(middle) ? far : near) = middle;
    }
  }

  FoundWidth nearest() const {
    const auto all = accepted();
    if (all.empty())
      return {.failed = fmt::format("found no width in [{}, {}] near {} that the model accepts ({})", range_.least, range_.most,
                                    begin_, known_.at(begin_).refused)};
    int grows = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const auto before = *number_at(all[i - 1]), now = *number_at(all[i]);
      const int here = now > before ? 1 : now < before ? -1 : 0;
      if (here != 0 && grows != 0 && here != grows)
        return {.failed =
                    fmt::format("found {} at width {}, {} at {} and {} at {}, expected a number that only grows or only falls "
                                "with the width",
                                *number_at(all.front()), all.front(), before, all[i - 1], now, all[i])};
      if (here != 0) grows = here;
    }
    if (grows == 0 && all.size() > 1)
      return {.failed = fmt::format("found {} at widths {} and {}, expected a number that changes with the width",
                                    *number_at(all.front()), all.front(), all.back())};
    FoundWidth best{all.front(), *number_at(all.front()), ""};
    for (const auto width : all)
      if (const auto number = *number_at(width); std::abs(number - target_) < std::abs(best.number - target_))
        best = {width, number, ""};
    return best;
  }

  const WidthRange range_;
  const std::int64_t begin_, target_;
  const std::function<std::vector<CountedWidth>(const Widths&)>& count_;
  std::map<std::int64_t, CountedWidth> known_;
  std::int64_t anchor_ = 0, step_ = 1;
};

}  // namespace

std::string width_text(const MatchedSetting& one, const StudyMatch& match) {
  return fmt::format("{} = {}, {} {} beside {} ({:+.1f} %){}", match.width, one.width, one.number, match.text(), one.reference,
                     100 * one.off(), one.matches() ? "" : ", the nearest");
}

std::vector<MatchedSetting> add_matched(Draft& draft, const Schema& schema, const CountSizes& count, Diagnostics& diagnostics) {
  std::vector<MatchedSetting> matched;
  if (!count) {
    diagnostics.add(draft.match->where, "grid.match needs a worker to count with, and no worker runs here");
    return matched;
  }
  auto group = Matching(draft, schema, count, diagnostics).solve(matched);
  if (diagnostics.empty()) draft.groups.insert(draft.groups.end() - 1, std::move(group));
  return matched;
}

FoundWidth find_width(const WidthRange& range, std::int64_t begin, std::int64_t target,
                      const std::function<std::vector<CountedWidth>(const std::vector<std::int64_t>&)>& count) {
  return WidthSearch(range, begin, target, count).find();
}

}  // namespace ablate
