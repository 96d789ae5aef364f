// What a reader must know of what dev chose. Internal to db/.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

class TuningRemarks {
 public:
  /// By which a choice was made.
  void metric(const std::string& name) { metrics_.insert(name); }
  void left_out(const std::string& value) { left_out_.push_back(value); }
  /// A trial that came without a cell.
  void unchosen() { ++unchosen_; }
  /// Values are compared on seeds of their own.
  void apart() { apart_ = true; }
  /// Of a choice that was added as open: it is made, and none of its reported trials is there.
  void waiting() { ++waiting_, --undecided_; }
  void add(const std::vector<Chosen>& cell) {
    for (const auto& chosen : cell) edges_ += chosen.edge, choices_ += !chosen.values.empty();
    undecided_ += cell.front().values.empty();
  }

  std::vector<std::string> notes(const std::vector<std::string>& paths) const;

 private:
  std::set<std::string> metrics_;
  std::vector<std::string> left_out_;
  bool apart_ = false;
  int edges_ = 0, choices_ = 0, undecided_ = 0, unchosen_ = 0, waiting_ = 0;
};

}  // namespace ablate::db
