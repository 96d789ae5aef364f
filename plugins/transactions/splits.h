// Deals the accounts to train, dev and test.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "accounts.h"

namespace ablate::transactions {

/// Indices of accounts in train, dev and test.
using Splits = std::array<std::vector<std::size_t>, 3>;

/// Deals 70, 15 and 15 % of the clients of each source and gender, drawn by the seed, so that the splits have the same
/// proportions. All accounts of a client are in one split. Indices are in rising order.
Splits deal(const std::vector<Account>& accounts, std::uint64_t seed);

}  // namespace ablate::transactions
