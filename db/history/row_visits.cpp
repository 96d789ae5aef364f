#include "db/history/row_visits.h"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include <exception>

namespace ablate::db {
namespace {

constexpr const char* kPointer = "ablate visitor";

/// What a running question has in its first argument.
struct Visitor {
  const VisitRow& visit;
  std::exception_ptr thrown = nullptr;  ///< no exception passes through SQLite
};

void step(sqlite3_context* context, int, sqlite3_value** values) {
  auto* visitor = static_cast<Visitor*>(sqlite3_value_pointer(values[0], kPointer));
  if (visitor == nullptr || visitor->thrown != nullptr) return sqlite3_result_error(context, "no visitor", -1);
  try {
    visitor->visit(VisitedRow(values + 1));
  } catch (...) {
    visitor->thrown = std::current_exception();
    sqlite3_result_error(context, "stopped", -1);
  }
}

void finish(sqlite3_context*) {}

}  // namespace

std::string_view VisitedRow::view(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(values_[column]));
  return bytes == nullptr ? "" : std::string_view(bytes, static_cast<std::size_t>(sqlite3_value_bytes(values_[column])));
}

void allow_row_visits(SQLite::Database& database) {
  if (sqlite3_create_function_v2(database.getHandle(), "visit_row", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, nullptr, nullptr, step,
                                 finish, nullptr) != SQLITE_OK)
    throw SQLite::Exception(database.getHandle());
}

RowVisits::RowVisits(SQLite::Database& database, const std::string& columns, const std::string& from) : database_(database) {
  const auto sql = fmt::format("SELECT visit_row(?10, {}) {}", columns, from);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database.getHandle(), sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    throw SQLite::Exception(database.getHandle());
  statement_.reset(statement);
}

void RowVisits::visit(std::initializer_list<std::int64_t> values, const VisitRow& visit) {
  Visitor visitor{visit};
  int index = 0;
  for (const auto value : values) sqlite3_bind_int64(statement_.get(), ++index, value);
  sqlite3_bind_pointer(statement_.get(), 10, &visitor, kPointer, nullptr);
  const bool done = sqlite3_step(statement_.get()) == SQLITE_ROW;  // one, without a value
  const int code = sqlite3_reset(statement_.get());
  if (visitor.thrown != nullptr) std::rethrow_exception(visitor.thrown);
  if (!done) throw SQLite::Exception(database_.getHandle(), code);
}

}  // namespace ablate::db
