// Bank transactions as sequences of several fields (PKDD'99, Berka): is the account's owner a woman?
#include <cstdio>
#include <stdexcept>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/task.h"
#include "accounts.h"
#include "coding.h"
#include "folder.h"
#include "splits.h"
#include "tokens.h"

namespace {

using namespace ablate::transactions;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"berka\"", "", kExpected),
    ablate::integer("length", "128", {1, 16384}, "last transactions of an account", "transactions"),
    ablate::integer("split_seed", "0", {0, 9007199254740992},
                    "deals the clients to train, dev and test, 70, 15 and 15 % of each source and gender"),
};

class Transactions final : public ablate::Task {
 public:
  explicit Transactions(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        length_(static_cast<std::size_t>(context.parameters.integer("length"))),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("split_seed"))) {}

  ablate::TaskInfo info() override {
    find_files(data_);  // reports missing data before anything is loaded
    const auto ids = [](const char* name, std::span<const Value> values) {
      return ablate::Field{.name = name, .vocabulary = static_cast<std::int64_t>(values.size())};
    };
    return {.fields = {{.name = "amount", .reals = 1},
                       {.name = "days", .reals = 1},
                       ids("type", types()),
                       ids("operation", operations()),
                       ids("category", categories())},
            .length = static_cast<std::int64_t>(length_),
            .classes = 2,
            .slices = {"source"}};
  }

  std::vector<std::filesystem::path> files() override { return find_files(data_).all(); }

  void load() override {
    folder_ = find_files(data_);
    accounts_ = read_accounts(folder_);
    splits_ = deal(accounts_, seed_);
    for (const auto& split : splits_)
      if (split.empty())
        throw std::runtime_error("transactions: " + folder_.clients.parent_path().string() + " has " +
                                 std::to_string(accounts_.size()) +
                                 " accounts with one owner and a transaction, too few for train, dev and test");
    tokens_ = tokens_of(accounts_, splits_[0], length_);
  }

  std::string digest() const override {
    ablate::Digest digest;
    for (const auto& split : splits_) {
      digest.add(split.size());
      for (const auto place : split) {
        digest.add(accounts_[place].woman).add(accounts_[place].source).add(tokens_[place].size());
        for (const auto& [amount, days, type, operation, category] : tokens_[place])
          digest.add(amount).add(days).add(type).add(operation).add(category);
      }
    }
    return digest.hex();
  }

  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(splits_[static_cast<std::size_t>(split)].size());
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto place = account_of(split, indices[row]);
      const auto& tokens = tokens_[place];
      const auto begin = row * length_;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        batch.reals[0][begin + i] = tokens[i].amount;
        batch.reals[1][begin + i] = tokens[i].days;
        batch.ids[2][begin + i] = tokens[i].type;
        batch.ids[3][begin + i] = tokens[i].operation;
        batch.ids[4][begin + i] = tokens[i].category;
      }
      ablate::end_row(batch, row, tokens.size());
      batch.targets[row] = accounts_[place].woman ? 1 : 0;
      batch.slices[row] = static_cast<std::int64_t>(accounts_[place].source) + 1;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto& account = accounts_[account_of(split, index)];
    std::string text = "account " + std::to_string(account.id) + " of a " + (account.woman ? "woman" : "man") + " (" +
                       folder_.transactions[account.source].filename().string() + ")\n";
    for (const auto& transaction : shown(account, length_)) {
      char line[120];
      std::snprintf(line, sizeof line, "%+5d days %10.2f  %s, %s, %s\n", transaction.days, transaction.amount,
                    types()[transaction.type].name, operations()[transaction.operation].name,
                    categories()[transaction.category].name);
      text += line;
    }
    return text;
  }

 private:
  std::size_t account_of(ablate::Split split, std::int64_t index) const {
    return splits_[static_cast<std::size_t>(split)][ablate::place_of(index, size(split))];
  }

  std::string data_;
  std::size_t length_;
  std::uint64_t seed_;
  Folder folder_;
  std::vector<Account> accounts_;
  std::vector<std::vector<Token>> tokens_;  ///< by account
  Splits splits_;
};

}  // namespace

ABLATE_TASK(Transactions, {.id = "transactions",
                           .version = "1.0.0",
                           .summary = "bank transactions of several fields: is the account's owner a woman?",
                           .paper = "Berka and Sochorova 1999, PKDD'99 discovery challenge, financial data",
                           .parameters = parameters})
