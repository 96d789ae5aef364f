#include "db/questions/query_rows.h"

#include <fmt/format.h>

#include "db/report/named_rows.h"

namespace ablate::db {
namespace {

std::string blob_text(const unsigned char* data, int size) {
  std::string text;
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", data[i]);
  return text;
}

nlohmann::json field(sqlite3_stmt* row, int column) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return nullptr;
    case SQLITE_INTEGER:
      return sqlite3_column_int64(row, column);
    case SQLITE_FLOAT:
      return json_number(sqlite3_column_double(row, column));
    case SQLITE_BLOB:
      return blob_text(static_cast<const unsigned char*>(sqlite3_column_blob(row, column)), sqlite3_column_bytes(row, column));
    default:
      return std::string(reinterpret_cast<const char*>(sqlite3_column_text(row, column)),
                         static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
  }
}

}  // namespace

RowWriter::RowWriter(sqlite3_stmt* row, Format format, const Write& write)
    : row_(row), printer_(printer_of(format).rows(write)) {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(row); ++i) names.emplace_back(sqlite3_column_name(row, i));
  printer_->begin(names);
}

void RowWriter::put() {
  std::vector<nlohmann::json> fields;
  for (int i = 0; i < sqlite3_column_count(row_); ++i) fields.push_back(field(row_, i));
  printer_->put(fields);
}

}  // namespace ablate::db
