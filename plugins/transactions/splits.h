// Who trains and who tests.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "accounts.h"

namespace ablate::transactions {

/// Places of accounts in train, dev and test.
using Splits = std::array<std::vector<std::size_t>, 3>;

/// Deals 70, 15 and 15 % of the clients of each source and gender, drawn by the seed, so that the three are alike in both; all
/// accounts of a client go into one split. By place, rising.
Splits deal(const std::vector<Account>& accounts, std::uint64_t seed);

}  // namespace ablate::transactions
