#include "db/report/failures.h"

#include <fmt/format.h>

#include "core/records/outcome.h"
#include "db/report/format.h"

namespace ablate::db {

std::string failure_text(const Cell& cell) {
  std::string text;
  for (const auto& failure : cell.failures) {
    if (!text.empty()) text += ", ";
    text += failure.outcome;
    if (cell.trials > 1) text += fmt::format(" {}/{}", failure.count, cell.trials);
    const auto* const outcome = find_outcome(failure.outcome);
    const bool tells_reason = failure.outcome != outcome::kMissing && (outcome == nullptr || !outcome->says_all);
    if (tells_reason && !failure.reason.empty()) text += ": " + first_line(failure.reason);
    if (tells_reason && failure.other_reasons > 0) text += fmt::format(" (+ {} with another reason)", failure.other_reasons);
  }
  return text;
}

}  // namespace ablate::db
