// What of a Store is about leases.
#include "db/history/leases.h"
#include "db/history/store.h"
#include "db/history/store_file.h"

namespace ablate::db {

NewOwner Store::add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) {
  return implementation_->write([&] { return db::add_owner(implementation_->database, take, meet); });
}

void Store::put_worker(std::int64_t slot, std::int64_t worker, std::int64_t started) {
  implementation_->write([&] {
    db::put_worker(implementation_->database, slot, worker, started);
    return 0;
  });
}

void Store::remove_owner(std::int64_t slot, const std::function<void()>& last) {
  implementation_->write([&] {
    if (db::remove_owner(implementation_->database, slot)) last();
    return 0;
  });
}

LeaseAnswer Store::take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                              const IsOver& is_over) {
  const LeaseRequest asked{key, slot, since, again, is_over};
  // Most that are asked for are done or run elsewhere: nobody waits for the one writer then.
  const auto none = implementation_->use([&] { return not_leased(implementation_->database, asked); });
  if (none) return *none;
  return implementation_->write([&] { return db::take_lease(implementation_->database, asked); });
}

void Store::give_back(const std::string& key, std::int64_t fence) {
  implementation_->write([&] {
    db::give_back(implementation_->database, key, fence);
    return 0;
  });
}

bool Store::put_leased(const Attempt& attempt) {
  return implementation_->write([&] { return db::put_leased(implementation_->statements, attempt); });
}

std::int64_t Store::newest_fence() {
  return implementation_->use([&] { return db::newest_fence(implementation_->database); });
}

std::vector<HeldLease> Store::held_leases() {
  return implementation_->use([&] { return db::held_leases(implementation_->database); });
}

}  // namespace ablate::db
