#include "accounts.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>

#include "coding.h"
#include "table.h"

namespace ablate::transactions {
namespace {

constexpr const char* kDispositions[] = {"OWNER", "DISPONENT"};
constexpr const char* kDateForm = "a date as YYMMDD";

struct Owner {
  std::int64_t client = 0;
  bool woman = false, alone = false;
};

std::int32_t day_of(std::int64_t year, std::int64_t month, std::int64_t day, const Table& table, std::size_t column,
                    const char* expected) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(static_cast<int>(year)), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(day))};
  if (year > 9999 || month > 12 || day > 31 || !date.ok()) table.refuse(column, expected);
  return static_cast<std::int32_t>(sys_days(date).time_since_epoch().count());
}

/// True if the month of YYMMDD has 50 added, which marks a woman.
bool is_woman(const Table& table, std::size_t column) {
  const auto number = table.whole(column);
  const auto month = number / 100 % 100;
  if (table.text(column).size() != 6 || month % 50 < 1 || month % 50 > 12)
    table.refuse(column, "YYMMDD with a month of 1 to 12, or of 51 to 62 for a woman");
  return month > 50;
}

std::map<std::int64_t, bool> read_women(const std::filesystem::path& path) {
  std::map<std::int64_t, bool> women;
  Table table(path);
  const auto client = table.column("client_id"), birth = table.column("birth_number");
  while (table.next())
    if (!women.emplace(table.whole(client), is_woman(table, birth)).second) table.refuse(client, "each client once");
  return women;
}

std::map<std::int64_t, Owner> read_owners(const Folder& folder) {
  const auto women = read_women(folder.clients);
  std::map<std::int64_t, Owner> owners;
  Table table(folder.dispositions);
  const auto client = table.column("client_id"), account = table.column("account_id"), type = table.column("type");
  while (table.next()) {
    const auto [place, is_first] = owners.try_emplace(table.whole(account));
    auto& owner = place->second;
    if (std::ranges::find(kDispositions, table.text(type)) == std::end(kDispositions))
      table.refuse(type, std::string("one of \"") + kDispositions[0] + "\", \"" + kDispositions[1] + '"');
    owner.alone = is_first && table.text(type) == kDispositions[0];
    owner.client = table.whole(client);
    const auto who = women.find(owner.client);
    if (who == women.end()) table.refuse(client, "a client of " + folder.clients.string());
    owner.woman = who->second;
  }
  return owners;
}

/// Reads the transactions of a file in any of the codings.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : table_(path),
        account_(table_.column("account_id")),
        type_(table_.column("type")),
        operation_(table_.column("operation")),
        amount_(table_.column("amount")),
        category_(table_.column("k_symbol")),
        one_date_(table_.has("date")),
        date_(table_.column(one_date_ ? "date" : "year")),
        month_(one_date_ ? date_ : table_.column("month")),
        day_(one_date_ ? date_ : table_.column("day")) {}

  bool next() { return table_.next(); }

  /// Reads an account like 2378 or A0000002378.
  std::int64_t account() const {
    auto cell = table_.text(account_);
    if (cell.starts_with('A')) cell.remove_prefix(1);
    std::int64_t id = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), id);
    if (error != std::errc() || end != cell.data() + cell.size() || id < 0)
      table_.refuse(account_, "an account as 2378 or A0000002378");
    return id;
  }

  Transaction transaction() const {
    return {.day = day(),
            .days = 0,
            .amount = table_.amount(amount_),
            .type = id(type_, types()),
            .operation = id(operation_, operations()),
            .category = id(category_, categories())};
  }

  [[noreturn]] void refuse(const std::string& expected) const { table_.refuse(account_, expected); }

 private:
  std::int32_t day() const {
    if (!one_date_ && (table_.whole(month_) < 1 || table_.whole(month_) > 12)) table_.refuse(month_, "a month of 1 to 12");
    if (!one_date_)
      return day_of(table_.whole(date_), table_.whole(month_), table_.whole(day_), table_, day_, "a day of that month");
    const auto date = table_.whole(date_);
    if (table_.text(date_).size() != 6) table_.refuse(date_, kDateForm);
    return day_of(1900 + date / 10000, date / 100 % 100, date % 100, table_, date_, kDateForm);
  }

  std::uint8_t id(std::size_t column, std::span<const Value> values) const {
    const auto found = id_of(values, table_.text(column));
    if (found < 0) table_.refuse(column, "one of " + spellings(values));
    return static_cast<std::uint8_t>(found);
  }

  Table table_;
  std::size_t account_, type_, operation_, amount_, category_;
  bool one_date_;
  std::size_t date_, month_, day_;
};

}  // namespace

std::vector<Account> read_accounts(const Folder& folder) {
  const auto owners = read_owners(folder);
  std::map<std::int64_t, Account> accounts;
  for (std::size_t source = 0; source < folder.transactions.size(); ++source) {
    Reader reader(folder.transactions[source]);
    while (reader.next()) {
      const auto id = reader.account();
      const auto owner = owners.find(id);
      if (owner == owners.end()) reader.refuse("an account of " + folder.dispositions.string());
      const auto transaction = reader.transaction();
      if (!owner->second.alone) continue;
      auto& account =
          accounts.try_emplace(id, Account{id, owner->second.client, owner->second.woman, source, {}}).first->second;
      if (account.source != source)
        reader.refuse("an account that is not in " + folder.transactions[account.source].string() + ", too");
      account.transactions.push_back(transaction);
    }
  }
  std::vector<Account> all;
  for (auto& [id, account] : accounts) {
    auto& list = account.transactions;
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.day < b.day; });
    for (std::size_t i = 1; i < list.size(); ++i) list[i].days = list[i].day - list[i - 1].day;
    all.push_back(std::move(account));
  }
  return all;
}

}  // namespace ablate::transactions
