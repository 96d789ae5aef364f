#include "coding.h"

#include <algorithm>

namespace ablate::transactions {
namespace {

// Each line has the published spelling (Berka and Sochorova 1999), then the spelling of the CSVs with year, month and day, then
// the spelling of the translated CSVs. The spelling errors are in the files.
constexpr std::string_view kCredit[] = {"PRIJEM", "credit"};
constexpr std::string_view kDebit[] = {"VYDAJ", "debit", "withdrawal"};
constexpr std::string_view kCashDebit[] = {"VYBER", "cash_withdraw", "withdrawal in cash"};
constexpr Value kTypes[] = {{"credit", kCredit}, {"debit", kDebit}, {"cash debit", kCashDebit}};

constexpr std::string_view kNoOperation[] = {"", "interest_pmt"};  // interest is credited without an operation
constexpr std::string_view kDeposit[] = {"VKLAD", "deposit", "credit in cash"};
constexpr std::string_view kFromBank[] = {"PREVOD Z UCTU", "collection_from_another_bank", "collection from another bank"};
constexpr std::string_view kCash[] = {"VYBER", "withdraw_cash", "withdrawal in cash"};
constexpr std::string_view kToBank[] = {"PREVOD NA UCET", "transer_to_another_bank", "remittance to another bank"};
constexpr std::string_view kCard[] = {"VYBER KARTOU", "credit_card_withdrawal", "credit card withdrawal"};
constexpr Value kOperations[] = {{"none", kNoOperation}, {"deposit", kDeposit},        {"from another bank", kFromBank},
                                 {"cash", kCash},        {"to another bank", kToBank}, {"card", kCard}};

constexpr std::string_view kNoCategory[] = {""};
constexpr std::string_view kPension[] = {"DUCHOD", "pension", "old-age pension"};
constexpr std::string_view kHousehold[] = {"SIPO", "household"};
constexpr std::string_view kInsurance[] = {"POJISTNE", "insurrance_pmt", "insurrance payment"};
constexpr std::string_view kLoan[] = {"UVER", "loan_pmt", "loan payment"};
constexpr std::string_view kInterest[] = {"UROK", "interest_pmt", "interest credited"};
constexpr std::string_view kService[] = {"SLUZBY", "service", "payment for statement"};
constexpr std::string_view kSanction[] = {"SANKC. UROK", "interest_for_negetive_balance",
                                          "sanction interest if negative balance"};
constexpr Value kCategories[] = {{"none", kNoCategory},     {"pension", kPension},  {"household", kHousehold},
                                 {"insurance", kInsurance}, {"loan", kLoan},        {"interest", kInterest},
                                 {"service", kService},     {"sanction", kSanction}};

}  // namespace

std::span<const Value> types() { return kTypes; }
std::span<const Value> operations() { return kOperations; }
std::span<const Value> categories() { return kCategories; }

std::int64_t id_of(std::span<const Value> values, std::string_view spelling) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const Value& value) {
    return std::find(value.spellings.begin(), value.spellings.end(), spelling) != value.spellings.end();
  });
  return found == values.end() ? -1 : found - values.begin();
}

std::string spellings(std::span<const Value> values) {
  std::string all;
  for (const auto& value : values)
    for (const auto spelling : value.spellings) all += (all.empty() ? "\"" : ", \"") + std::string(spelling) + '"';
  return all;
}

}  // namespace ablate::transactions
