// A history in memory. Each call is a transaction, as in SQLite, and other schedulers may continue before each call.
#pragma once

#include "tests/host/simulated/store.h"

namespace ablate::simulation {

class SerialStore : public simulated::MemoryStore {
 public:
  SerialStore(simulated::Disk& disk, std::filesystem::path file, int process)
      : MemoryStore(disk, std::move(file), process), disk_(disk), process_(process) {}

  std::unique_ptr<db::GridStore> open(const std::filesystem::path& file) const override {
    return std::make_unique<SerialStore>(disk_, file, process_);
  }
  std::int64_t add_owner(const std::function<bool(std::int64_t slot)>& take, const Meet& meet) override {
    const Transaction open(*this);
    return MemoryStore::add_owner(take, meet);
  }
  void remove_owner(std::int64_t slot, const std::function<void()>& last) override {
    const Transaction open(*this);
    MemoryStore::remove_owner(slot, last);
  }
  db::LeaseAnswer take_lease(const std::string& key, std::int64_t slot, std::int64_t since, bool again,
                             const IsOver& is_over) override {
    const Transaction open(*this);
    return MemoryStore::take_lease(key, slot, since, again, is_over);
  }
  bool put_leased(const db::Attempt& attempt) override {
    const Transaction open(*this);
    return MemoryStore::put_leased(attempt);
  }

 protected:
  /// While a Transaction exists, no other scheduler makes a step.
  class Transaction {
   public:
    explicit Transaction(const SerialStore& store) : disk_(store.disk_), before_(disk_.writer) {
      if (before_ == nullptr) disk_.fails(store.file());
      disk_.writer = &store;
    }
    ~Transaction() { disk_.writer = before_; }
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

   private:
    simulated::Disk& disk_;
    const void* before_;
  };

  simulated::Disk& disk_;
  int process_;
};

}  // namespace ablate::simulation
