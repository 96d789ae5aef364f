#include "db/questions/selection/conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/number_text.h"
#include "core/util/rate_text.h"
#include "core/util/trimmed.h"
#include "db/questions/selection/table_axes.h"
#include "db/types/table.h"

namespace ablate::db {
namespace {

enum class Order { kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast };

/// The operators. An operator such as "<=" comes before "<", because the first operator that the text begins with is used.
constexpr std::array<std::pair<std::string_view, Order>, 6> kOrders{{{"!=", Order::kUnequal},
                                                                     {"<=", Order::kAtMost},
                                                                     {">=", Order::kAtLeast},
                                                                     {"=", Order::kEqual},
                                                                     {"<", Order::kLess},
                                                                     {">", Order::kMore}}};

bool orders(Order order) { return order != Order::kEqual && order != Order::kUnequal; }

struct Condition {
  std::string text;  ///< the user's text
  std::string path;
  Order order = Order::kEqual;
  std::string value;
};

/// Returns nullopt if the text is no condition.
std::optional<Condition> parse_condition(const std::string& text) {
  const auto at = text.find_first_of("=!<>");
  if (at == std::string::npos) return std::nullopt;
  for (const auto& [word, order] : kOrders)
    if (text.compare(at, word.size(), word) == 0) {
      Condition condition{text, history_path(trimmed(text.substr(0, at))), order, trimmed(text.substr(at + word.size()))};
      if (condition.path.empty() || condition.value.empty()) return std::nullopt;
      return condition;
    }
  return std::nullopt;
}

/// Accepts "0.25" and "1/4".
std::optional<double> number_of(const std::string& text) {
  if (const auto number = parse_number(text)) return number;
  const auto rate = parse_rate(text);
  return rate ? std::optional(rate->value()) : std::nullopt;
}

bool has_value(const Axis::Value& value, const std::string& wanted) {
  if (value.text == wanted) return true;
  const auto number = number_of(wanted);
  return value.is_number && number && *number == value.number;
}

struct Range {
  double low, high;
};

std::optional<Range> range_of(const std::string& text) {
  const auto dots = text.find("..");
  if (dots == std::string::npos) return std::nullopt;
  const auto low = number_of(trimmed(text.substr(0, dots))), high = number_of(trimmed(text.substr(dots + 2)));
  if (!low || !high) return std::nullopt;
  return Range{*low, *high};
}

std::vector<std::string> apart(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    if (auto part = trimmed(text.substr(from, to - from)); !part.empty()) parts.push_back(std::move(part));
    from = to + 1;
  }
  return parts;
}

std::string no_condition(const std::string& text) {
  return fmt::format(
      "where {}: expected PATH=VALUE, or !=, <, <=, > or >= between them, for example "
      "'task=image' or 'attention.rates<=1/4'",
      text.empty() ? "''" : text);
}

std::string no_number(const Condition& condition) {
  return fmt::format("found {} after <, <=, > or >=, expected a number or a rate, such as 128 or 1/4", condition.value);
}

/// A condition with the axis of its parameter.
class Question {
 public:
  /// @param wrong gets a line for each error
  Question(Condition condition, Axis axis, std::vector<std::string>& wrong)
      : condition_(std::move(condition)), axis_(std::move(axis)) {
    has_absent_ = std::any_of(axis_.of_trial.begin(), axis_.of_trial.end(), [](int value) { return value < 0; });
    const bool has_numbers =
        std::any_of(axis_.values.begin(), axis_.values.end(), [](const Axis::Value& value) { return value.is_number; });
    const auto refuse = [&](const std::string& what) { wrong.push_back(fmt::format("--where {}: {}", condition_.text, what)); };
    if (orders(condition_.order)) {
      number_ = number_of(condition_.value);
      if (!number_)
        refuse(no_number(condition_));
      else if (!has_numbers)
        refuse(fmt::format("{} has no numbers{}; name values: '{}=A,B'", axis_.path, known(), axis_.path));
      return;
    }
    if (has_wanted(condition_.value)) {  // a value that may contain a comma
      values_ = {condition_.value};
      return;
    }
    range_ = range_of(condition_.value);
    if (range_) {
      if (!has_numbers) refuse(fmt::format("{} has no numbers{}; expected values", axis_.path, known()));
      if (range_->low > range_->high) refuse("found a range that ends below its start, expected LOW..HIGH");
      return;
    }
    values_ = apart(condition_.value);
    if (values_.empty()) refuse("found no value, expected one value, or several with commas between them");
    for (const auto& value : values_)
      if (!has_wanted(value)) refuse(fmt::format("no trial has {}={}{}", axis_.path, value, hint(value, texts())));
  }

  bool holds(std::size_t trial) const {
    const int at = axis_.of_trial[trial];
    const auto* value = at < 0 ? nullptr : &axis_.values[static_cast<std::size_t>(at)];
    if (orders(condition_.order)) return value != nullptr && value->is_number && in_order(value->number);
    return is_among(value) == (condition_.order == Order::kEqual);
  }

 private:
  bool is_among(const Axis::Value* value) const {
    if (range_) return value != nullptr && value->is_number && range_->low <= value->number && value->number <= range_->high;
    return std::any_of(values_.begin(), values_.end(), [&](const std::string& wanted) {
      return value == nullptr ? wanted == kAbsent : has_value(*value, wanted);
    });
  }

  bool in_order(double number) const {
    switch (condition_.order) {
      case Order::kLess:
        return number < *number_;
      case Order::kAtMost:
        return number <= *number_;
      case Order::kMore:
        return number > *number_;
      default:
        return number >= *number_;
    }
  }

  bool has_wanted(const std::string& wanted) const {
    return (has_absent_ && wanted == kAbsent) ||
           std::any_of(axis_.values.begin(), axis_.values.end(), [&](const auto& value) { return has_value(value, wanted); });
  }

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const auto& value : axis_.values) all.push_back(value.text);
    if (has_absent_) all.emplace_back(kAbsent);
    return all;
  }

  std::string known() const {
    auto all = texts();
    constexpr std::size_t kMost = 12;
    const bool many = all.size() > kMost;
    if (many) all.resize(kMost);
    return fmt::format(" (it has {}{})", fmt::join(all, ", "), many ? ", ..." : "");
  }

  Condition condition_;
  Axis axis_;
  bool has_absent_ = false;
  std::vector<std::string> values_;  ///< for = and !=, unless there is a range
  std::optional<Range> range_;
  std::optional<double> number_;  ///< for <, <=, > and >=
};

}  // namespace

std::string condition_path(const std::string& text) {
  const auto condition = parse_condition(text);
  if (!condition) throw Error(no_condition(text));
  if (orders(condition->order) && !number_of(condition->value))
    throw Error(fmt::format("where {}: {}", text, no_number(*condition)));
  return condition->path;
}

Kept keep_where(const Reader& reader, std::vector<SelectedTrial> trials, const std::vector<std::string>& conditions) {
  if (conditions.empty()) return {std::move(trials), {}};
  std::vector<std::string> wrong;
  std::vector<Question> questions;
  const auto known = reader.paths();
  for (const auto& text : conditions) {
    auto condition = parse_condition(text);
    if (!condition) {
      wrong.push_back("--" + no_condition(text));
      continue;
    }
    auto axis = find_axis(reader, trials, known, condition->path);
    if (!axis)
      wrong.push_back(unknown_path("--where", condition->path, known, varying_axes(reader, trials)));
    else
      questions.emplace_back(std::move(*condition), std::move(*axis), wrong);
  }
  if (!wrong.empty()) throw Error(fmt::format("{}", fmt::join(wrong, "\n")));
  Kept kept;
  for (std::size_t t = 0; t < trials.size(); ++t)
    if (std::all_of(questions.begin(), questions.end(), [&](const Question& question) { return question.holds(t); }))
      kept.trials.push_back(trials[t]);
  const auto said = fmt::format("{}", fmt::join(conditions, " and "));
  if (kept.trials.empty())
    throw Error(
        fmt::format("--where: none of {} trials has {}; some trials may meet only one of the conditions", trials.size(), said));
  kept.notes.push_back(fmt::format("only trials with {}: {} of {}", said, kept.trials.size(), trials.size()));
  return kept;
}

}  // namespace ablate::db
