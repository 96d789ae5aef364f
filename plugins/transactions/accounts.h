// The accounts of the Berka data that belong to a single person, with their transactions.
#pragma once

#include <cstdint>
#include <vector>

#include "folder.h"

namespace ablate::transactions {

struct Transaction {
  std::int32_t day;   ///< days since 1970-01-01
  std::int32_t days;  ///< days since the account's previous transaction; 0 for the first
  double amount;      ///< Czech crowns, never negative; the type gives the direction
  std::uint8_t type, operation, category;
};

struct Account {
  std::int64_t id, client;
  bool woman;                             ///< true if the owner is a woman
  std::size_t source;                     ///< index into Folder::transactions
  std::vector<Transaction> transactions;  ///< at least one, by day; within a day in the file's order
};

/// Returns the accounts that have transactions and no disposition (a client's right to an account) except the owner's, sorted
/// by id. Other accounts are left out, because their payer is unknown. Throws FileError with FILE:LINE for an invalid cell, an
/// account without dispositions or in two files, and an owner that is not a client.
std::vector<Account> read_accounts(const Folder& folder);

}  // namespace ablate::transactions
