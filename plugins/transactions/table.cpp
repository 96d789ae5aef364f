#include "table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "ablate/input_file.h"

namespace ablate::transactions {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;  // the whole trans.asc has 67 MB

std::vector<std::uint8_t> read_all(const std::filesystem::path& path) {
  auto content = InputFile(path).read_some(kMostBytes + 1);
  if (content.size() > kMostBytes) throw FileError(path, "holds more than 1 GiB; this is no file of the Berka data");
  return content;
}

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

Table::Table(std::filesystem::path path)
    : path_(std::move(path)),
      content_(read_all(path_)),
      text_(reinterpret_cast<const char*>(content_.data()), content_.size()) {
  const auto header = text_.substr(0, text_.find('\n'));
  if (header.find(';') != std::string_view::npos) separator_ = ';';
  names_.resize(1 + static_cast<std::size_t>(std::count(header.begin(), header.end(), separator_)));
  if (!next() || line_ != 1) throw std::runtime_error(path_.string() + ":1: found no header, expected names of columns");
  names_.assign(cells_.begin(), cells_.end());
}

bool Table::has(std::string_view name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }

std::size_t Table::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  std::string all;
  for (const auto& one : names_) all += (all.empty() ? "" : ", ") + one;
  throw std::runtime_error(path_.string() + ":1: found the columns " + all + ", expected " + std::string(name) + " among them");
}

bool Table::next() {
  std::string_view line;
  while (line.empty()) {
    if (at_ >= text_.size()) return false;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    line = text_.substr(at_, end - at_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    at_ = end + 1;
    ++line_;
  }
  split(line);
  if (cells_.size() != names_.size())
    refuse("found " + std::to_string(cells_.size()) + " cells, expected " + std::to_string(names_.size()) +
           " as in the header, parted by '" + separator_ + "'");
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
  refuse(names_[column] + ": found \"" + std::string(cells_[column]) + "\", expected " + expected);
}

void Table::refuse(const std::string& what) const {
  throw std::runtime_error(path_.string() + ":" + std::to_string(line_) + ": " + what);
}

}  // namespace ablate::transactions
