// How people declare a metric in one text: its name, and behind it unit and better end, "test/bleu[% max]".
#pragma once

#include <optional>
#include <string>

#include "core/util/trimmed.h"

namespace ablate::db {

struct MetricDeclaration {
  std::string name;
  std::optional<std::string> unit, direction;  ///< "%" and "max"; of "[]" both are ""; nothing where no brackets stand there
};

/// Of "test/bleu [% max]", "energy/used[J min]", "probe/layers[]", "test/bleu". Takes any text.
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

/// "[% max]", "[J min]", "[]".
inline std::string declaration_text(const std::string& unit, const std::string& direction) {
  return "[" + unit + (unit.empty() || direction.empty() ? "" : " ") + direction + "]";
}

}  // namespace ablate::db
