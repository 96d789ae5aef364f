// Declaration of a metric in one text: its name, then unit and direction (max or min) in brackets, "test/bleu[% max]".
#pragma once

#include <optional>
#include <string>

#include "core/util/trimmed.h"

namespace ablate::db {

struct MetricDeclaration {
  std::string name;
  std::optional<std::string> unit, direction;  ///< "%" and "max"; both "" for "[]"; nullopt without brackets
};

/// Splits "test/bleu [% max]", "energy/used[J min]", "probe/layers[]" or "test/bleu". Accepts any text.
inline MetricDeclaration metric_declaration(const std::string& text) {
  const auto open = text.find('[');
  if (open == std::string::npos || text.back() != ']') return {text, std::nullopt, std::nullopt};
  MetricDeclaration all{trimmed(text.substr(0, open)), trimmed(text.substr(open + 1, text.size() - open - 2)), ""};
  const auto last = all.unit->substr(all.unit->rfind(' ') + 1);
  if (last == "max" || last == "min") {
    all.direction = last;
    all.unit = trimmed(all.unit->substr(0, all.unit->size() - last.size()));
  }
  return all;
}

/// Returns the reason why a declaration is wrong; "" if it is right. A unit is one word, and neither max nor min.
inline std::string declaration_refusal(const MetricDeclaration& declared) {
  if (declared.name.find_first_of("[]") != std::string::npos) return "has a bracket in its name, expected NAME[UNIT max]";
  const auto unit = declared.unit.value_or("");
  auto word = unit.substr(unit.rfind(' ') + 1);
  for (auto& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const bool names_direction = word == "max" || word == "min" || word == "best" || word == "maximum" || word == "minimum";
  if (!names_direction && unit.find(' ') == std::string::npos) return "";
  return "has [" + unit + "] behind it, expected a unit of one word, and max, min or nothing for the direction: [% max]";
}

/// Returns "[% max]", "[J min]" or "[]".
inline std::string declaration_text(const std::string& unit, const std::string& direction) {
  return "[" + unit + (unit.empty() || direction.empty() ? "" : " ") + direction + "]";
}

}  // namespace ablate::db
