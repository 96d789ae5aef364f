#include "db/report/layout.h"

namespace ablate::db {

std::string plain(const Field& field, const Emphasis& emphasis) {
  auto text = field.text;
  if (field.unsettled && !text.empty()) text = emphasis.unsettled + text;
  if (field.best) text = emphasis.best_before + text + emphasis.best_after;
  if (field.second) text = emphasis.second_before + text + emphasis.second_after;
  if (!field.told.empty()) text += " " + field.told;
  if (!field.failures.empty()) text += (text.empty() ? "" : ", ") + field.failures;
  return field.mark.empty() ? text : field.mark + " " + text;
}

}  // namespace ablate::db
