#include <fmt/format.h>

#include <cstdlib>

#include "db/report/statistics.h"

namespace ablate::db {
namespace {

constexpr int kMostDecimals = 8;

/// Returns "" for a whole number from 0 to 8, else what is wrong.
std::string refuse_decimals(const std::string& text) {
  const bool is_one = text.size() == 1 && text[0] >= '0' && text[0] <= '0' + kMostDecimals;
  return is_one ? "" : fmt::format("found {}, expected a whole number from 0 to {}", text, kMostDecimals);
}

void set_decimals(const std::vector<std::string>& values, Table& table) { table.decimals = std::atoi(values.back().c_str()); }

}  // namespace

const Statistic statistics::decimals{
    "decimals",      "N",         false, "decimals of all numbers; default: as many as the uncertainty of a column allows", "",
    refuse_decimals, set_decimals};

}  // namespace ablate::db
