#include "db/questions/query_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/util/plain_json.h"

namespace ablate::db {
namespace {

std::string blob_text(const unsigned char* data, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", data[i]);
  return text;
}

std::string field(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return "";
    case SQLITE_FLOAT:
      return exact(sqlite3_column_double(row, column));
    case SQLITE_BLOB:
      return blob_text(static_cast<const unsigned char*>(sqlite3_column_blob(row, column)), sqlite3_column_bytes(row, column));
    default:
      return {reinterpret_cast<const char*>(sqlite3_column_text(row, column)),
              static_cast<std::size_t>(sqlite3_column_bytes(row, column))};
  }
}

nlohmann::json json_field(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT:
      if (const double value = sqlite3_column_double(row, column); std::isfinite(value)) return value;
      return nullptr;
    default:
      return field(row, column);
  }
}

}  // namespace

RowWriter::RowWriter(sqlite3_stmt* row, Format format, const Write& write)
    : row_(row), columns_(sqlite3_column_count(row)), format_(format), write_(write) {
  for (int i = 0; i < columns_; ++i) names_.emplace_back(sqlite3_column_name(row, i));
  switch (format_) {
    case Format::kCsv:
      write_(csv_line(names_));
      return;
    case Format::kJson:
      write_("[");
      return;
    case Format::kText:
    case Format::kMarkdown:
      rows_.push_back(names_);
      return;
  }
  refuse_format(format_);
}

void RowWriter::put() {
  switch (format_) {
    case Format::kCsv:
      return write_(csv_line(fields(exact)));
    case Format::kJson:
      return write_(object());
    case Format::kText:
    case Format::kMarkdown:
      return rows_.push_back(
          fields([](double number) { return fmt::format("{:.10g}", number); }));  // 56.67, not 56.669999999999995
  }
}

void RowWriter::end() {
  switch (format_) {
    case Format::kCsv:
      return;
    case Format::kJson:
      return write_(any_ ? "\n]\n" : "]\n");
    case Format::kText:
      return write_(render_text(rows_));
    case Format::kMarkdown:
      return write_(render_markdown(rows_));
  }
}

std::vector<std::string> RowWriter::fields(const std::function<std::string(double)>& number) const {
  std::vector<std::string> all;
  for (int i = 0; i < columns_; ++i)
    all.push_back(sqlite3_column_type(row_, i) == SQLITE_FLOAT ? number(sqlite3_column_double(row_, i)) : field(row_, i));
  return all;
}

std::string RowWriter::object() {
  std::string text = any_ ? ",\n  {" : "\n  {";
  for (int i = 0; i < columns_; ++i)
    text += fmt::format("{}{}: {}", i > 0 ? ", " : "", plain_json(nlohmann::json(names_[static_cast<std::size_t>(i)])),
                        plain_json(json_field(row_, i)));
  any_ = true;
  return text + "}";
}

}  // namespace ablate::db
