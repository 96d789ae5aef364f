#include "splits.h"

#include <algorithm>
#include <map>
#include <utility>

#include "ablate/random.h"

namespace ablate::transactions {

Splits deal(const std::vector<Account>& accounts, std::uint64_t seed) {
  std::map<std::int64_t, std::vector<std::size_t>> of_client;
  for (std::size_t place = 0; place < accounts.size(); ++place) of_client[accounts[place].client].push_back(place);
  std::map<std::pair<std::size_t, bool>, std::vector<const std::vector<std::size_t>*>> strata;
  for (const auto& [client, places] : of_client) {
    const auto& first = accounts[places.front()];
    strata[{first.source, first.woman}].push_back(&places);
  }
  Splits splits;
  std::mt19937_64 random(seed);
  for (auto& [stratum, clients] : strata) {
    shuffle(clients, random);
    const auto dev = clients.size() * 70 / 100, test = clients.size() * 85 / 100;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      auto& split = splits[i < dev ? 0 : i < test ? 1 : 2];
      split.insert(split.end(), clients[i]->begin(), clients[i]->end());
    }
  }
  for (auto& split : splits) std::sort(split.begin(), split.end());
  return splits;
}

}  // namespace ablate::transactions
