// Bank transactions as sequences of several fields (PKDD'99, Berka): is the account's owner a woman?
#include <openssl/evp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "ablate/task.h"
#include "accounts.h"
#include "coding.h"
#include "folder.h"
#include "splits.h"

namespace {

using namespace ablate::transactions;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"berka\"", "",
                 "berka, or a folder of client.asc, disp.asc and trans.asc or trans_*.csv, plain or gzipped"),
    ablate::integer("length", "128", {1, 16384}, "of an account the last so many", "transactions"),
    ablate::integer("split_seed", "0", {0, 9007199254740992},
                    "deals the clients to train, dev and test, 70, 15 and 15 %, alike by source and gender"),
};

/// What a model is shown of a transaction.
struct Token {
  float amount, days;
  std::uint8_t type, operation, category;
};

/// Amounts run over four powers of ten.
double scaled(double value) { return std::log1p(value); }

/// Mean and deviation of what the training split shows.
class Statistics {
 public:
  void add(double value) {
    ++count_;
    const double difference = value - mean_;
    mean_ += difference / static_cast<double>(count_);
    squares_ += difference * (value - mean_);
  }
  float normalised(double value) const {
    const double deviation = std::sqrt(squares_ / static_cast<double>(count_));
    return static_cast<float>((value - mean_) / (deviation > 0 ? deviation : 1));
  }

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

class Transactions final : public ablate::Task {
 public:
  explicit Transactions(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        length_(static_cast<std::size_t>(context.parameters.integer("length"))),
        seed_(static_cast<std::uint64_t>(context.parameters.integer("split_seed"))) {}

  ablate::TaskInfo info() override {
    find_files(data_);  // what is missing is told before anything is loaded
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
    Statistics amount, days;
    for (const auto place : splits_[0])
      for (const auto& transaction : shown(accounts_[place])) {
        amount.add(scaled(transaction.amount));
        days.add(scaled(transaction.days));
      }
    for (const auto& account : accounts_) {
      auto& tokens = tokens_.emplace_back();
      for (const auto& transaction : shown(account))
        tokens.push_back({amount.normalised(scaled(transaction.amount)), days.normalised(scaled(transaction.days)),
                          transaction.type, transaction.operation, transaction.category});
    }
  }

  std::string digest() const override {
    std::string content;
    const auto add = [&](const auto& value) { content.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const auto& split : splits_) {
      add(split.size());
      for (const auto place : split) {
        add(accounts_[place].woman);
        add(accounts_[place].source);
        add(tokens_[place].size());
        for (const auto& token : tokens_[place]) {
          add(token.amount);
          add(token.days);
          add(token.type);
          add(token.operation);
          add(token.category);
        }
      }
    }
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(content.data(), content.size(), sum, &size, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("transactions: libcrypto failed to compute a SHA-256");
    std::string hex;
    for (unsigned i = 0; i < size; ++i) {
      hex += "0123456789abcdef"[sum[i] >> 4];
      hex += "0123456789abcdef"[sum[i] & 15];
    }
    return hex;
  }

  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(splits_[static_cast<std::size_t>(split)].size());
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto place = place_of(split, indices[row]);
      const auto& tokens = tokens_[place];
      const auto begin = row * length_;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        batch.reals[0][begin + i] = tokens[i].amount;
        batch.reals[1][begin + i] = tokens[i].days;
        batch.ids[2][begin + i] = tokens[i].type;
        batch.ids[3][begin + i] = tokens[i].operation;
        batch.ids[4][begin + i] = tokens[i].category;
      }
      std::fill_n(batch.present[0].begin() + static_cast<std::ptrdiff_t>(begin + tokens.size()), length_ - tokens.size(),
                  std::uint8_t{0});
      batch.targets[row] = accounts_[place].woman ? 1 : 0;
      batch.slices[row] = static_cast<std::int64_t>(accounts_[place].source) + 1;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto& account = accounts_[place_of(split, index)];
    std::string text = "account " + std::to_string(account.id) + " of a " + (account.woman ? "woman" : "man") + " (" +
                       folder_.transactions[account.source].filename().string() + ")\n";
    for (const auto& transaction : shown(account)) {
      char line[120];
      std::snprintf(line, sizeof line, "%+5d days %10.2f  %s, %s, %s\n", transaction.days, transaction.amount,
                    types()[transaction.type].name, operations()[transaction.operation].name,
                    categories()[transaction.category].name);
      text += line;
    }
    return text;
  }

 private:
  /// The account's last ones.
  std::span<const Transaction> shown(const Account& account) const {
    const std::span<const Transaction> all(account.transactions);
    return all.last(std::min(all.size(), length_));
  }

  std::size_t place_of(ablate::Split split, std::int64_t index) const {
    if (index < 0 || index >= size(split))
      throw std::out_of_range("transactions: found the index " + std::to_string(index) + ", expected one in [0, " +
                              std::to_string(size(split)) + ")");
    return splits_[static_cast<std::size_t>(split)][static_cast<std::size_t>(index)];
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
