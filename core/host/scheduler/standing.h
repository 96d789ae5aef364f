// Which trials of a plan the history has, and why it lacks the others. Torch-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/host/scheduler/identity.h"
#include "core/host/scheduler/plan.h"
#include "db/types/lineage.h"

namespace ablate {

/// The done trial that differs least from a planned one. Thousands are compared with thousands: values stand as numbers, a
/// column each, and texts are made of what is told alone.
class Nearest {
 public:
  /// @param others of several that are as near the first is taken; fewer than 65,535, each with a whole basis
  explicit Nearest(std::vector<db::PastTrial> others);

  bool empty() const { return others_.empty(); }

  struct Found {
    std::int64_t attempt;
    std::vector<std::string> differences;  ///< as differences() tells them of identities without values
  };
  /// @param trial lives as long as this. Not of an empty one.
  Found of(const SharedIdentity& trial);

 private:
  using Number = std::uint16_t;  ///< of a value in its column; 0: it is not set
  struct Column {
    std::unordered_map<std::string, Number> numbers;  ///< by text
    std::vector<Number> values;                       ///< by other
  };
  using Part = SharedIdentity::Part;
  struct Marks {
    std::vector<std::pair<std::size_t, Number>> numbers;  ///< by column
    std::string plugins;                                  ///< the part's, with their paths
  };

  const Marks& marks_of(const Part& part);
  /// @param plugins as Marks has them @return its place in bases_
  std::size_t basis_of(const std::string& text, const std::string& plugins, const std::function<Identity()>& whole);
  const std::vector<std::string>& differences_of_bases(std::size_t own, std::size_t other);
  const std::vector<Number>& counts_of_bases(std::size_t own);

  std::vector<db::PastTrial> others_;
  std::vector<Column> columns_;  ///< of the settings in which the others differ: only these say which is nearer
  std::unordered_map<std::string, std::size_t> places_;  ///< of the columns, by path
  std::vector<Identity> bases_;                          ///< one of each basis, with its plugins
  std::unordered_map<std::string, std::size_t> basis_numbers_;
  std::vector<std::size_t> basis_of_other_;
  std::unordered_map<const Part*, Marks> marks_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string>> of_bases_;
  std::map<std::size_t, std::vector<Number>> counts_;  ///< by own basis: how many differences of bases, by other
};

struct Standings {
  std::vector<std::string> lines;     ///< by trial
  std::vector<bool> done;             ///< by trial
  bool nothing_like_them = false;     ///< of none of the trials anything like it has been run
  std::vector<std::string> left_out;  ///< what of the history cannot be read (db::Reader::left_out)
};

/// For each trial, in a line: "done, attempt 12"; "attempt 5 failed: ...; not done"; "not done: as attempt 12, but for the code
/// of adamra (attention)"; "not done: the nearest, attempt 7, differs in train.steps (20, was 10)"; "not done: nothing like it
/// has been run". Compared with the latest done trial of the same settings, else with the nearest of the experiment's.
/// @param database may be missing: nothing has been run then. One that cannot be read is told instead, in every line.
/// @param tick called before each trial, with how many are compared; may be empty. Throws Interrupted where a signal asks to
/// stop.
Standings standings(const std::vector<const PlannedTrial*>& trials, const std::string& experiment,
                    const std::filesystem::path& database, const std::function<void(std::size_t done)>& tick = {});

}  // namespace ablate
