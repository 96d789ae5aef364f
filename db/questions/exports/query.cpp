#include "db/questions/exports/query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <map>
#include <memory>
#include <system_error>

#include "core/util/nearest.h"
#include "core/util/plain_json.h"
#include "db/history/damage.h"
#include "db/history/names.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/views.h"
#include "db/report/format.h"
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

/// Writes the rows of a statement.
class RowWriter {
 public:
  /// Writes the beginning of the output. Throws Error for an unknown format.
  RowWriter(sqlite3_stmt* row, Format format, const Write& write) : row_(row), printer_(printer_of(format).rows(write)) {
    std::vector<std::string> names;
    for (int i = 0; i < sqlite3_column_count(row); ++i) names.emplace_back(sqlite3_column_name(row, i));
    printer_->begin(names);
  }

  /// Writes the current row of the statement.
  void put() {
    std::vector<nlohmann::json> fields;
    for (int i = 0; i < sqlite3_column_count(row_); ++i) fields.push_back(field(row_, i));
    printer_->put(fields);
  }
  void end() { printer_->end(); }

 private:
  sqlite3_stmt* row_;
  std::unique_ptr<RowPrinter> printer_;
};

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

/// While this object lives, Ctrl-C ends the running statement instead of the process.
class Interruptible {
 public:
  explicit Interruptible(sqlite3* database) {
    current = database;
    struct sigaction action {};
    action.sa_handler = [](int) {
      if (auto* running = current.load()) sqlite3_interrupt(running);
    };
    sigaction(SIGINT, &action, &before_);
  }
  ~Interruptible() {
    sigaction(SIGINT, &before_, nullptr);
    current = nullptr;
  }
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  static inline std::atomic<sqlite3*> current = nullptr;
  struct sigaction before_ {};
};

/// Limit for SQLite's memory, in which it sorts and groups.
constexpr sqlite3_int64 kMostMemory = sqlite3_int64{1} << 30;  // bytes
constexpr int kMostField = 64 << 20;                           // bytes of one field or row
constexpr int kStepsToAsk = 1'000'000;                         // steps of SQLite's virtual machine, about 10 ms

/// While this object lives, SQLite's memory is limited to kMostMemory. The limit applies to the whole process.
class LimitedMemory {
 public:
  LimitedMemory() : before_(sqlite3_hard_heap_limit64(kMostMemory)) {}
  ~LimitedMemory() { sqlite3_hard_heap_limit64(before_); }
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;

 private:
  sqlite3_int64 before_;
};

const char* action_name(int action) {
  static const std::map<int, const char*> names = {
      {SQLITE_INSERT, "INSERT"},
      {SQLITE_UPDATE, "UPDATE"},
      {SQLITE_DELETE, "DELETE"},
      {SQLITE_ATTACH, "ATTACH"},
      {SQLITE_DETACH, "DETACH"},
      {SQLITE_PRAGMA, "PRAGMA"},
      {SQLITE_TRANSACTION, "a transaction"},
      {SQLITE_SAVEPOINT, "SAVEPOINT"},
      {SQLITE_ANALYZE, "ANALYZE"},
      {SQLITE_REINDEX, "REINDEX"},
      {SQLITE_ALTER_TABLE, "ALTER TABLE"},
      {SQLITE_FUNCTION, "the function"},
  };
  const auto at = names.find(action);
  return at == names.end() ? "a change of the schema" : at->second;
}

/// Allows reading, and stores any other action in `tried`, a std::string.
int only_reading(void* tried, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      if (second != nullptr && sqlite3_stricmp(second, "load_extension") != 0) return SQLITE_OK;
      first = second;
      break;
    default:
      break;
  }
  auto& what = *static_cast<std::string*>(tried);
  what = action_name(action);
  if (first != nullptr) what += fmt::format(" {}", first);
  return SQLITE_DENY;
}

[[noreturn]] void refuse(const std::string& found) {
  throw Error(fmt::format("`ablate query` only reads: found {}, expected one SELECT. Nothing was changed.", found));
}

/// Returns a hint if a name has changed since schema 5.
std::string renamed(const std::string& name, const char* before, const char* now) {
  return name == before ? fmt::format(" (it is called {} now)", now) : "";
}

/// Returns the unquoted name (test/accuracy) that SQL reads as a division of the unknown column `first`; "" if there is none.
std::string divided_name(const std::string& sql, const std::string& first) {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (auto at = sql.find(first + "/"); at != std::string::npos; at = sql.find(first + "/", at + 1)) {
    if (at > 0 && (in_name(sql[at - 1]) || sql[at - 1] == '"' || sql[at - 1] == '/')) continue;
    auto end = at + first.size() + 1;
    while (end < sql.size() && (in_name(sql[end]) || sql[end] == '/' || sql[end] == '.')) ++end;
    return sql.substr(at, end - at);
  }
  return "";
}

/// Returns the views that have a column: "experiments, members".
std::string views_with(const std::string& column, const std::vector<View>& views) {
  std::vector<std::string> names;
  for (const auto& view : views)
    if (std::find(view.columns.begin(), view.columns.end(), column) != view.columns.end()) names.push_back(view.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Returns SQLite's message, with the nearest name if a name is wrong.
std::string explained(const std::string& message, const std::string& sql, const std::vector<View>& views) {
  std::vector<std::string> view_names, columns;
  for (const auto& view : views) {
    view_names.push_back(view.name);
    columns.insert(columns.end(), view.columns.begin(), view.columns.end());
  }
  const auto after = [&](std::string_view prefix) {
    return message.starts_with(prefix) ? message.substr(prefix.size()) : std::string();
  };
  if (const auto column = after("no such column: "); !column.empty()) {
    if (const auto now = renamed(column, "run", "attempt"); !now.empty()) return message + now;
    if (const auto name = divided_name(sql, column); !name.empty())
      if (const auto near = nearest(name, columns); !near.empty())
        return fmt::format("{} (names with a dot or a slash need double quotes: {})", message, quoted(near));
    constexpr std::string_view kPlugin = ".plugin";  // in the form that studies use
    const bool study_path = column.ends_with(kPlugin);
    const auto near = nearest(study_path ? column.substr(0, column.size() - kPlugin.size()) : column, columns);
    if (near == column && column.find_first_of("./") == std::string::npos)
      return fmt::format("{} in that view; the column is in {}", message, views_with(column, views));
    if (near == column) return fmt::format("{} (names with a dot or a slash need double quotes: {})", message, quoted(near));
    if (auto whole = ending_in(columns, '.', column); !whole.empty()) {  // "compression" is "attention.compression"
      for (auto& name : whole) name = db::quoted(name);
      return fmt::format("{} (did you mean {}?)", message, fmt::join(whole, ", "));
    }
    const std::string is_text =
        sql.find('"' + column + '"') == std::string::npos ? "" : fmt::format("; a text needs single quotes: '{}'", column);
    if (!near.empty()) return fmt::format("{} (did you mean {}?){}", message, quoted(near), is_text);
    if (!is_text.empty()) return message + is_text;
    return message + "; `ablate query` without SQL lists all columns";
  }
  if (const auto table = after("no such table: "); !table.empty()) {
    const auto now = renamed(table, "runs", "trials");
    return message + (now.empty() ? hint(table, view_names) : now);
  }
  return message;
}

std::vector<View> known_views(const Reader& reader) {
  return guarded(reader.file(), [&] { return views(reader.database()); });
}

/// Returns the name of the first parameter; "?" if the parameter has no name.
std::string parameter_name(sqlite3_stmt* statement) {
  const char* name = sqlite3_bind_parameter_name(statement, 1);
  return name == nullptr ? "?" : name;
}

/// A connection that only allows reading.
class Session {
 public:
  explicit Session(const std::filesystem::path& file) : reader_(file), views_(known_views(reader_)) {
    reader_.read_without_limit();
    // Otherwise SQLite would take "tset/accuracy" in double quotes as a text if there is no such column.
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
    sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_VIEW, 1, nullptr);
    sqlite3_limit(handle(), SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, kMostField);
    sqlite3_set_authorizer(handle(), only_reading, &tried_);
  }

  sqlite3* handle() const { return reader_.database().getHandle(); }

  Prepared prepare(const std::string& sql) {
    sql_ = sql;
    const char* rest = nullptr;
    auto statement = prepare_one(sql.c_str(), rest);
    if (!statement) throw Error("the SQL is empty: `ablate query` without SQL lists the views and columns");
    if (!sqlite3_stmt_readonly(statement.get())) refuse("a statement that writes");
    for (const char* next = rest; *next != '\0'; next = rest)  // comments and extra semicolons are no statement
      if (prepare_one(next, rest)) refuse("a second statement");
    if (sqlite3_bind_parameter_count(statement.get()) > 0)
      throw Error(fmt::format("SQL: found the parameter {}, which has no value; write the value itself",
                              parameter_name(statement.get())));
    return statement;
  }

  [[noreturn]] void fail(int code) const {
    if (code == SQLITE_INTERRUPT) throw Error("interrupted", ExitCode::kInterrupted);
    if (code == SQLITE_NOMEM)
      throw Error(
          fmt::format("SQL: found that the answer takes more memory than {} MiB, expected less; sort or group fewer rows",
                      kMostMemory >> 20));
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
      throw Error(damaged_text(reader_.file(), sqlite3_errmsg(handle())));
    if (code == SQLITE_TOOBIG)
      throw Error(fmt::format("SQL: found a field or a row of more than {} MiB, expected less", kMostField >> 20));
    if (code == SQLITE_AUTH || !tried_.empty()) refuse(tried_.empty() ? "something else" : tried_);
    throw Error("SQL: " + explained(sqlite3_errmsg(handle()), sql_, views_));
  }

 private:
  Prepared prepare_one(const char* sql, const char*& rest) {
    sqlite3_stmt* raw = nullptr;
    const int code = sqlite3_prepare_v2(handle(), sql, -1, &raw, &rest);
    if (code != SQLITE_OK) fail(code);
    return Prepared(raw);
  }

  Reader reader_;
  std::vector<View> views_;
  std::string sql_, tried_;
};

}  // namespace

void run_query(const std::filesystem::path& file, const std::string& sql, Format format, const Write& write,
               const IsRead& is_read) {
  const LimitedMemory limited;
  Session session(file);
  const auto statement = session.prepare(sql);
  const auto is_unread = [](void* ask) { return (*static_cast<const IsRead*>(ask))() ? 0 : 1; };
  IsRead still_read = is_read;
  if (still_read) sqlite3_progress_handler(session.handle(), kStepsToAsk, is_unread, &still_read);
  const Interruptible interruptible(session.handle());
  RowWriter rows(statement.get(), format, write);
  int code;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) rows.put();
  if (code == SQLITE_INTERRUPT && still_read && !still_read())
    throw std::system_error(EPIPE, std::generic_category(), "the answer");
  if (code != SQLITE_DONE) session.fail(code);
  rows.end();
}

std::string list_views(const std::filesystem::path& file, Format format) {
  std::string text;
  std::vector<std::vector<nlohmann::json>> rows;
  auto objects = nlohmann::ordered_json::array();
  for (const auto& [name, about, columns, sql] : known_views(Reader(file))) {
    text += fmt::format("{}: {}\n", name, about);
    for (const auto& column : columns) {
      text += fmt::format("  {}\n", one_row(quoted(column)));
      rows.push_back({name, column, about});
    }
    objects.push_back({{"view", name}, {"about", about}, {"columns", columns}});
  }
  if (format == Format::kText) return text;
  if (format == Format::kJson) return plain_json(objects, 2) + "\n";
  std::string lines;
  const Write write = [&](std::string_view part) { lines += part; };
  const auto printer = printer_of(format).rows(write);
  printer->begin({"view", "column", "about"});
  for (const auto& row : rows) printer->put(row);
  printer->end();
  return lines;
}

}  // namespace ablate::db
