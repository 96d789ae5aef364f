// Divides the accounts among train, dev and test.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "accounts.h"

namespace ablate::transactions {

/// Indices of accounts in train, dev and test.
using Splits = std::array<std::vector<std::size_t>, 3>;

/// Assigns 70, 15 and 15 % of the clients of each source and gender to train, dev and test, drawn by the seed. So the splits
/// have the same proportions. All accounts of a client are in one split. Indices are in rising order.
Splits deal(const std::vector<Account>& accounts, std::uint64_t seed);

}  // namespace ablate::transactions
