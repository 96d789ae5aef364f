// Small files in the published forms of the Berka data.
#pragma once

#include <array>

#include "tests/plugins/task.h"

namespace ablate::tests {

/// A transaction as in the files. Type, operation and category are indices in kTypes, kOperations and kCategories.
struct Row {
  int account;
  std::array<int, 3> date;  ///< year, month, day
  double amount;
  std::size_t type, operation, category;
};

/// Spellings of each value by Form: as published, in the CSVs with year, month and day, and in the translated CSVs.
using Spellings = std::vector<std::array<const char*, 3>>;
inline const Spellings kTypes = {
    {"PRIJEM", "credit", "credit"}, {"VYDAJ", "debit", "withdrawal"}, {"VYBER", "cash_withdraw", "withdrawal in cash"}};
inline const Spellings kOperations = {{"", "interest_pmt", ""},
                                      {"VKLAD", "deposit", "credit in cash"},
                                      {"PREVOD Z UCTU", "collection_from_another_bank", "collection from another bank"},
                                      {"VYBER", "withdraw_cash", "withdrawal in cash"},
                                      {"PREVOD NA UCET", "transer_to_another_bank", "remittance to another bank"},
                                      {"VYBER KARTOU", "credit_card_withdrawal", "credit card withdrawal"}};
inline const Spellings kCategories = {
    {" ", "", " "},
    {"DUCHOD", "pension", "old-age pension"},
    {"SIPO", "household", "household"},
    {"POJISTNE", "insurrance_pmt", "insurrance payment"},
    {"UVER", "loan_pmt", "loan payment"},
    {"UROK", "interest_pmt", "interest credited"},
    {"SLUZBY", "service", "payment for statement"},
    {"SANKC. UROK", "interest_for_negetive_balance", "sanction interest if negative balance"}};

enum Form { kPublished, kDated, kTranslated };

inline std::string transactions_file(Form form, const std::vector<Row>& rows) {
  const std::array<const char*, 3> headers = {
      "\"trans_id\";\"account_id\";\"date\";\"type\";\"operation\";\"amount\";\"balance\";\"k_symbol\";\"bank\";"
      "\"account\"\r\n",
      "account_id,type,operation,amount,balance,k_symbol,bank,account,year,month,day,dayofweek\n",
      "trans_id;account_id;date;type;operation;amount;balance;k_symbol;bank;account\n"};
  std::string text = headers[form];
  char line[400];
  for (const auto& row : rows) {
    const auto [year, month, day] = row.date;
    const auto *type = kTypes[row.type][form], *operation = kOperations[row.operation][form],
               *category = kCategories[row.category][form];
    if (form == kDated)
      std::snprintf(line, sizeof line, "A%010d,%s,%s,%.2f,7,%s,,0.0,%d,%d,%d,4\n", row.account, type, operation, row.amount,
                    category, year, month, day);
    else
      std::snprintf(line, sizeof line,
                    form == kPublished ? "9;%d;%02d%02d%02d;\"%s\";\"%s\";%.2f;7.00;\"%s\";\"A;B\";\r\n"
                                       : "9;%d;%02d%02d%02d;%s;%s;%.2f;7.00;%s;;\n",
                    row.account, year % 100, month, day, type, operation, row.amount, category);
    text += line;
  }
  return text;
}

/// Folder of Berka files. Client and account have the same number. Odd clients are women; every seventh account has a second
/// person.
struct BerkaFolder {
  TemporaryFolder folder;

  explicit BerkaFolder(int accounts) {
    std::string clients = "\"client_id\";\"birth_number\";\"district_id\"\r\n",
                dispositions = "\"disp_id\";\"client_id\";\"account_id\";\"type\"\r\n";
    for (int i = 1; i <= accounts; ++i) {
      char line[100];
      std::snprintf(line, sizeof line, "%d;\"70%02d13\";18\r\n", i, i % 12 + 1 + (is_woman(i) ? 50 : 0));
      clients += line;
      dispositions += "1;" + std::to_string(i) + ";" + std::to_string(i) + ";\"OWNER\"\r\n";
      if (is_shared(i)) dispositions += "2;1;" + std::to_string(i) + ";\"DISPONENT\"\r\n";
    }
    write("client.asc", clients);
    write("disp.asc", dispositions);
  }
  void write(const std::string& name, const std::string& text) const {
    write_bytes(folder.path() / name, {text.begin(), text.end()});
  }
  std::string path() const { return folder.path().string(); }

  static bool is_woman(int account) { return account % 2 == 1; }
  static bool is_shared(int account) { return account % 7 == 0; }
};

/// Makes 3 to 12 transactions for each account, sorted by date, with random types, operations and categories.
inline std::vector<Row> random_rows(int first, int last, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Row> rows;
  for (int month = 1; month <= 12; ++month)
    for (int account = first; account <= last; ++account)
      if (month <= 3 || random() % 3 == 0)
        rows.push_back({account,
                        {1993, month, static_cast<int>(1 + random() % 28)},
                        static_cast<double>(random() % 5000000) / 100,
                        random() % kTypes.size(),
                        random() % kOperations.size(),
                        random() % kCategories.size()});
  return rows;
}

}  // namespace ablate::tests
