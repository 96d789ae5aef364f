#include <fmt/format.h>

#include "db/report/statistics.h"

namespace ablate::db {
namespace {

constexpr const char *kExact = "exact", *kT = "t";

std::string refuse_test(const std::string& text) {
  return text == kExact || text == kT ? "" : fmt::format("found {}, expected {} or {}", text, kExact, kT);
}

/// Chooses the test of --against and --contrasts, which run later.
void choose_test(const std::vector<std::string>& values, Table& table) { table.t_test = is_t_test(values.back()); }

}  // namespace

bool is_t_test(const std::string& value) { return value == kT; }

const Statistic statistics::test{
    "test",
    "TEST",
    false,
    "test of --against and --contrasts: exact (default), which needs at least six seeds, or t, Student's t test of the pairs "
    "or Welch's t test, which assumes normal differences",
    "",
    refuse_test,
    choose_test};

}  // namespace ablate::db
