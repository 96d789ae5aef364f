// A history and a paper with its tables, for `ablate verify`.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/db/commands.h"

namespace ablate::db {

/// A history of three methods and two seeds, and a paper.
class Papers : public Commands {
 public:
  Papers() {
    std::filesystem::remove(file());
    Store store(file());
    for (const auto* attention : kMethods)
      for (const int seed : {1, 2}) trials_.push_back(trial(attention, {}, seed));
    put(store, "study", trials_);
    for (std::size_t i = 0; i < trials_.size(); ++i) store.put_attempt(done(trials_[i], 60 + static_cast<double>(i)));
  }

  std::string paper() const { return file().parent_path() / "paper.tex"; }
  void write(const std::string& text) const { std::ofstream(paper(), std::ios::binary) << text; }
  std::string verify() { return (*this)("verify " + paper()); }

  /// Adds a seed of the first method. The paper does not have this seed.
  void add_seed() {
    trials_.push_back(trial(kMethods[0], {}, 3));
    Store store(file());
    put(store, "study", trials_);
    store.put_attempt(done(trials_.back(), 61));
  }
  /// Adds an attempt with this accuracy at trial `i`.
  void run_again(std::size_t i, double accuracy) { Store(file()).put_attempt(done(trials_[i], accuracy)); }

  static constexpr const char* kMethods[] = {"softmax", "50%_linear & co", "x], [y <b> \\\\ % ablate: 1"};

 private:
  std::vector<nlohmann::json> trials_;
};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace ablate::db
