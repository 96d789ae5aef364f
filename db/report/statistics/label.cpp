#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/util/error.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

/// Returns "" for a name that LaTeX, Typst and HTML all accept, else what is wrong.
std::string refuse_label(const std::string& text) {
  const auto in_label = [](unsigned char c) { return std::isalnum(c) != 0 || c == ':' || c == '-' || c == '_' || c == '.'; };
  const bool is_one = !text.empty() && std::isalpha(static_cast<unsigned char>(text.front())) != 0 &&
                      std::all_of(text.begin(), text.end(), in_label);
  return is_one ? "" : fmt::format("found '{}', expected a letter, then letters, digits and : - _ . as in tab:main", text);
}

void set_label(const std::vector<std::string>& values, Table& table) {
  if (table.caption.empty()) throw Error("--label: a paper refers to a table that has a caption; give --caption TEXT, too");
  table.label = values.back();
}

}  // namespace

const Statistic statistics::label{
    "label", "NAME",       false,    "the name by which LaTeX, Typst and HTML refer to a table with a --caption",
    "",      refuse_label, set_label};

}  // namespace ablate::db
