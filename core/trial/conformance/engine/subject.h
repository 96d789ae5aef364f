// Parts that attentions and compressions under test share: the subject, the table of its checks, and common checks.
#pragma once

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/engine/numbers.h"

namespace ablate {

/// An attention or a compression under test, and the depth of its checks.
class Subject {
 public:
  Subject(Candidate candidate, Depth depth) : candidate_(std::move(candidate)), depth_(depth) {}

  const Candidate& candidate() const { return candidate_; }
  const Capabilities& promises() const { return candidate_.promises; }
  std::string name() const { return candidate_.name(); }
  bool full() const { return depth_ == Depth::kFull; }
  std::int64_t length(std::int64_t at_least) const { return candidate_.length(at_least); }
  /// Returns length() of each number. 0 stays 0.
  std::vector<std::int64_t> lengths(const std::vector<std::int64_t>& at_least) const;
  /// Returns every promised type, or only float64 for a small run.
  std::vector<at::ScalarType> types() const;

 private:
  Candidate candidate_;
  Depth depth_;
};

/// One check for a kind of plugin, and the condition under which the check runs.
template <class Own>
struct CheckRule {
  const char* name;
  const char* on;  ///< shapes at full depth
  Allowed allowed;
  void (*look)(const Own&, Finding&);
  bool (*applies)(const Own&) = [](const Own&) { return true; };
};

/// Runs one look, and more looks at full depth.
template <class Own, void (*look)(const Own&, Finding&), void (*... more)(const Own&, Finding&)>
void widened(const Own& subject, Finding& finding) {
  look(subject, finding);
  if (subject.full()) (more(subject, finding), ...);
}

/// Runs every check that applies.
/// @param how text after the subject's name, "heads = 2, "
/// @param but function of the check to leave out; null: none
template <class Own, std::size_t count>
void run_rules(const CheckRule<Own> (&rules)[count], const Own& subject, const std::string& how, Checks& checks,
               void (*but)(const Own&, Finding&) = nullptr) {
  for (const auto& rule : rules)
    if (rule.look != but && rule.applies(subject))
      subject.candidate().exemptions->run(checks, rule.name, subject.name() + ", " + how + rule.on, "", rule.allowed,
                                          [&](Finding& finding) { rule.look(subject, finding); });
}

template <bool Capabilities::*promise>
constexpr auto promised = [](const auto& subject) { return subject.promises().*promise; };

/// One pass through an instance. Returns named tensors.
using Run = std::function<std::vector<Named>()>;

/// Checks that an instance gives the same results in all threads that make or call it, and keeps torch's number of threads.
/// @param make makes an instance from one seed and returns a function that runs it
void same_in_threads(const std::function<Run()>& make, const std::string& where, Finding& finding);

}  // namespace ablate
