#include "table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "folder.h"

namespace ablate::transactions {
namespace {

std::string_view stripped(std::string_view cell) {
  const auto trim = [&] {
    while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
    while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
  };
  trim();
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
    cell = cell.substr(1, cell.size() - 2);
    trim();
  }
  return cell;
}

}  // namespace

Table::Table(const std::filesystem::path& file) : path_(file), lines_(lines_of(file)) {
  const auto header = lines_.next().value_or("");
  if (header.empty()) throw FileError(path_, 1, "found no header, expected names of columns");
  if (header.find(';') != std::string_view::npos) separator_ = ';';
  split(header);
  names_.assign(cells_.begin(), cells_.end());
}

bool Table::has(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

std::size_t Table::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  std::string all;
  for (const auto& one : names_) all += (all.empty() ? "" : ", ") + one;
  throw FileError(path_, 1, "found the columns " + all + ", expected " + std::string(name) + " among them");
}

bool Table::next() {
  auto line = lines_.next();
  while (line && line->empty()) line = lines_.next();
  if (!line) return false;
  split(*line);
  if (cells_.size() != names_.size())
    lines_.refuse("found " + std::to_string(cells_.size()) + " cells, expected " + std::to_string(names_.size()) +
                  " as in the header, separated by '" + separator_ + "'");
  return true;
}

void Table::split(std::string_view line) {
  cells_.clear();
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] != separator_ || quoted) continue;
    cells_.push_back(stripped(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  cells_.push_back(stripped(line.substr(begin)));
}

std::int64_t Table::whole(std::size_t column) const {
  const auto cell = cells_[column];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || value < 0 || value > std::int64_t{1} << 53)
    refuse(column, "a whole number");
  return value;
}

double Table::amount(std::size_t column) const {
  const auto cell = cells_[column];
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0)
    refuse(column, "an amount that is not negative");
  return value;
}

void Table::refuse(std::size_t column, const std::string& expected) const {
  lines_.refuse(names_[column] + ": found \"" + std::string(cells_[column]) + "\", expected " + expected);
}

}  // namespace ablate::transactions
