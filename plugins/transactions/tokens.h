// What a model is shown of the accounts.
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

/// The account's last ones, at most so many.
std::span<const Transaction> shown(const Account& account, std::size_t most);

/// By account. @param train the accounts that mean and deviation are taken of, at least one
std::vector<std::vector<Token>> tokens_of(const std::vector<Account>& accounts, std::span<const std::size_t> train,
                                          std::size_t most);

}  // namespace ablate::transactions
