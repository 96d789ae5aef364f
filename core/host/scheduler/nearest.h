// Of done trials the one that differs least from a planned one. Torch-free.
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
#include "db/types/lineage.h"

namespace ablate {

/// Thousands are compared with thousands: values stand as numbers, a column each, and texts are made of what is told alone.
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

}  // namespace ablate
