#include "tokens.h"

#include <algorithm>
#include <cmath>

namespace ablate::transactions {
namespace {

/// Log scale, because amounts range over four powers of ten.
double scaled(double value) { return std::log1p(value); }

/// Mean and deviation over the training split.
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

}  // namespace

std::span<const Transaction> shown(const Account& account, std::size_t most) {
  const std::span<const Transaction> all(account.transactions);
  return all.last(std::min(all.size(), most));
}

std::vector<std::vector<Token>> tokens_of(const std::vector<Account>& accounts, std::span<const std::size_t> train,
                                          std::size_t most) {
  Statistics amount, days;
  for (const auto place : train)
    for (const auto& transaction : shown(accounts[place], most)) {
      amount.add(scaled(transaction.amount));
      days.add(scaled(transaction.days));
    }
  std::vector<std::vector<Token>> all;
  for (const auto& account : accounts) {
    auto& tokens = all.emplace_back();
    for (const auto& transaction : shown(account, most))
      tokens.push_back({amount.normalised(scaled(transaction.amount)), days.normalised(scaled(transaction.days)),
                        transaction.type, transaction.operation, transaction.category});
  }
  return all;
}

}  // namespace ablate::transactions
