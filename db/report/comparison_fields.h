// What a table shows of comparisons: marks, differences, contrasts. Internal to db/.
#pragma once

#include <string>

#include "db/report/digits.h"
#include "db/report/layout.h"
#include "db/types/table.h"

namespace ablate::db {

inline Field number(std::string text, bool unsettled = false) {
  return {.role = Role::kNumber, .text = std::move(text), .unsettled = unsettled};
}

/// Returns a row's labels, "adamra 1/2".
std::string row_text(const std::vector<std::string>& labels);
/// True for a difference that these digits show as 0.
bool rounds_to_zero(const Comparison& to, const Digits& digits);
/// "*", "-", "≠", "=", as the note below the table says; "" for a difference that shows nothing.
std::string told_mark(const Table& table, const Comparison& to, const Digits& digits);
/// "-2.31 [-2.90, -1.72]"; "reference".
std::string difference_text(const Comparison& to, const Digits& digits);
/// "0.012", "3.1e-05"; "" for NaN.
std::string p_text(double p);
/// Returns the same for a comparison; "n too small" if so few seeds can never show a significant difference.
std::string p_text(const Comparison& to);

/// The pairs of rows that an author chose, a line each.
Block contrasts_of(const Table& table);

}  // namespace ablate::db
