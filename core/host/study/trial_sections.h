// What the trials of a study share: sections that are written once and stand in many trials.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace ablate {

/// Where a value was written. Line and column count from 1; 0 where there is none. For an override the file is "--set" and the
/// line says which one, from 1.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};

/// The sections of a trial, in the order in which a study is usually written.
enum class TrialSection { kTask, kModel, kAttention, kTrain };
inline constexpr std::size_t kTrialSections = 4;
inline constexpr std::array<TrialSection, kTrialSections> kAllSections = {TrialSection::kTask, TrialSection::kModel,
                                                                          TrialSection::kAttention, TrialSection::kTrain};

inline const char* to_text(TrialSection section) {
  constexpr std::array<const char*, kTrialSections> kNames = {"task", "model", "attention", "train"};
  return kNames[static_cast<std::size_t>(section)];
}

/// Where a trial's values were written, by path: "attention.rates", "attention.plugin". Those that the study does not set are
/// none of them. Copies share it.
class WrittenAt {
 public:
  using OfSection = std::map<std::string, Location>;

  void put(TrialSection section, std::shared_ptr<const OfSection> locations) {
    sections_[static_cast<std::size_t>(section)] = std::move(locations);
  }

  /// nullptr where the study does not set the path.
  const Location* find(const std::string& path) const {
    for (const auto& section : sections_)
      if (section)
        if (const auto found = section->find(path); found != section->end()) return &found->second;
    return nullptr;
  }

  /// Of the first of some paths that the study sets. @param otherwise where it sets none
  template <class Paths>
  Location first_of(const Paths& paths, const Location& otherwise = {}) const {
    for (const auto& path : paths)
      if (const auto* found = find(path)) return *found;
    return otherwise;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& section : sections_) count += section ? section->size() : 0;
    return count;
  }

 private:
  std::array<std::shared_ptr<const OfSection>, kTrialSections> sections_;
};

/// Of each section of a trial its number in the study: trials with the same number have the same section, written on the same
/// lines. -1: nothing is known of who shares it.
class SectionNumbers {
 public:
  int& operator[](TrialSection section) { return numbers_[static_cast<std::size_t>(section)]; }
  int operator[](TrialSection section) const { return numbers_[static_cast<std::size_t>(section)]; }

 private:
  std::array<int, kTrialSections> numbers_{-1, -1, -1, -1};
};

/// Tells trials that have sections which no trial before had together: the others need not be looked at again.
class Unseen {
 public:
  explicit Unseen(std::vector<TrialSection> sections) : sections_(std::move(sections)) {}

  /// True for all of which nothing is known.
  bool operator()(const SectionNumbers& trial) {
    std::array<int, kTrialSections> now{};
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if ((now[i] = trial[sections_[i]]) < 0) return true;
    return seen_.insert(now).second;
  }

 private:
  std::vector<TrialSection> sections_;
  std::set<std::array<int, kTrialSections>> seen_;
};

/// What is made of some sections of a trial, made once for all trials that share them.
template <class Made>
class PerSections {
 public:
  explicit PerSections(std::vector<TrialSection> sections) : sections_(std::move(sections)) {}

  /// @param make called where it is not there yet @return until the next call for a trial of which nothing is known
  template <class Make>
  const Made& of(const SectionNumbers& trial, Make&& make) {
    std::array<int, kTrialSections> now{};
    for (std::size_t i = 0; i < sections_.size(); ++i)
      if ((now[i] = trial[sections_[i]]) < 0) return unshared_ = make();
    const auto found = made_.find(now);
    return found != made_.end() ? found->second : made_.emplace(now, make()).first->second;
  }

 private:
  std::vector<TrialSection> sections_;
  std::map<std::array<int, kTrialSections>, Made> made_;
  Made unshared_;
};

}  // namespace ablate
