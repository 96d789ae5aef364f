// The inputs of a model, made from accounts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "accounts.h"

namespace ablate::transactions {

/// A transaction; amount and days on a logarithmic scale, normalised to mean 0 and deviation 1.
struct Token {
  float amount, days;
  std::uint8_t type, operation, category;
};

/// Returns the account's last transactions, at most `most`.
std::span<const Transaction> shown(const Account& account, std::size_t most);

/// Returns the tokens of each account. The accounts of `train`, at least one, give the mean and the deviation.
std::vector<std::vector<Token>> tokens_of(const std::vector<Account>& accounts, std::span<const std::size_t> train,
                                          std::size_t most);

}  // namespace ablate::transactions
