// Statements that are prepared once for many uses: to prepare one takes as long as to run it several times. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <SQLiteCpp/VariadicBind.h>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace ablate::db {

/// Makes a statement ready for its next use, with these values in their order. SQLite has no NaN: NULL stands for it.
template <class... Values>
SQLite::Statement& renew(SQLite::Statement& statement, const Values&... values) {
  statement.reset();
  SQLite::bind(statement, values...);
  return statement;
}

/// Returns the number that a statement begins with for these values; 0 if it gives no row, or NULL.
template <class... Values>
std::int64_t number_from(SQLite::Statement& statement, const Values&... values) {
  const auto number = renew(statement, values...).executeStep() ? statement.getColumn(0).getInt64() : 0;
  statement.reset();
  return number;
}

/// Runs a statement without rows once, with these values in their order, and makes it ready for the next use.
template <class... Values>
void execute(SQLite::Statement& statement, const Values&... values) {
  SQLite::bind(statement, values...);
  statement.exec();
  statement.reset();
}

/// One use of a kept statement, ready to be bound. At its end the statement is reset: one that stays at a row would hold the
/// state of the file that it reads.
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

/// Those of a connection, which outlives this.
class PreparedStatements {
 public:
  explicit PreparedStatements(SQLite::Database& database) : database_(database) {}

  /// @param sql of a statement that nobody uses meanwhile
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
