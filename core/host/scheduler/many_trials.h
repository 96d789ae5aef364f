// Words for the user about what takes long where a study has very many trials.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace ablate {

class ManyTrials {
 public:
  /// @param note takes a line for the user
  ManyTrials(std::string study, std::size_t trials, std::function<void(const std::string&)> note)
      : study_(std::move(study)), trials_(trials), note_(std::move(note)) {}

  /// "tiny: 20000 trials: recording them"; nothing where they are few.
  void begin(const std::string& what) const {
    if (trials_ >= kMany) note_(study_ + ": " + std::to_string(trials_) + " trials: " + what);
  }

  /// "tiny: 10000 of 20000 trials recorded", at each ten thousand.
  void so_far(std::size_t done, const std::string& what) const {
    if (done > 0 && done % kMany == 0)
      note_(study_ + ": " + std::to_string(done) + " of " + std::to_string(trials_) + " trials " + what);
  }

 private:
  static constexpr std::size_t kMany = 10000;

  std::string study_;
  std::size_t trials_;
  std::function<void(const std::string&)> note_;
};

}  // namespace ablate
