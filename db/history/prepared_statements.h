// Statements that are prepared once for many uses, because preparing takes as long as several uses. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ablate::db {

/// Resets a statement and binds these values in their order. SQLite has no NaN: it stores NULL instead.
template <class... Values>
SQLite::Statement& renew(SQLite::Statement& statement, const Values&... values) {
  statement.reset();
  SQLite::bind(statement, values...);
  return statement;
}

/// Returns the first column of the first row as a number; 0 if there is no row, or for NULL.
template <class... Values>
std::int64_t number_from(SQLite::Statement& statement, const Values&... values) {
  const auto number = renew(statement, values...).executeStep() ? statement.getColumn(0).getInt64() : 0;
  statement.reset();
  return number;
}

/// Binds these values in their order, runs a statement that returns no rows, and resets it.
template <class... Values>
void execute(SQLite::Statement& statement, const Values&... values) {
  SQLite::bind(statement, values...);
  statement.exec();
  statement.reset();
}

/// One use of a prepared statement. The destructor resets the statement: an unfinished statement would hold the read snapshot
/// of the file.
class PreparedStatement {
 public:
  explicit PreparedStatement(SQLite::Statement& statement) : statement_(statement) {}
  ~PreparedStatement() {
    statement_.tryReset();
    try {
      statement_.clearBindings();
    } catch (const SQLite::Exception&) {  // nothing is bound
    }
  }
  PreparedStatement(const PreparedStatement&) = delete;
  PreparedStatement& operator=(const PreparedStatement&) = delete;

  SQLite::Statement& operator*() { return statement_; }
  SQLite::Statement* operator->() { return &statement_; }

 private:
  SQLite::Statement& statement_;
};

/// Prepared statements of a connection, which must outlive this object.
class PreparedStatements {
 public:
  explicit PreparedStatements(SQLite::Database& database) : database_(database) {}

  /// @param sql a statement that is not in use
  PreparedStatement operator()(const std::string& sql) {
    const auto found = all_.find(sql);
    return PreparedStatement(found != all_.end() ? found->second : all_.try_emplace(sql, database_, sql).first->second);
  }
  SQLite::Database& database() { return database_; }

 private:
  SQLite::Database& database_;
  std::unordered_map<std::string, SQLite::Statement> all_;
};

}  // namespace ablate::db
