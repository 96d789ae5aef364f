// Small things that most tasks do with an index or a row of a batch, and what those share that make their examples. Torch-free.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "ablate/digest.h"
#include "ablate/random.h"
#include "ablate/task.h"

namespace ablate {

/// An index of Task::read or Task::describe; throws std::out_of_range where there is no such example.
inline std::size_t place_of(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return static_cast<std::size_t>(index);
  throw std::out_of_range("found the index " + std::to_string(index) + ", expected one in [0, " + std::to_string(size) + ")");
}

/// Where the number found for a parameter does not fit, throws std::invalid_argument: "length = 7, expected an even number".
inline void expect(bool fits, const char* name, std::int64_t found, const std::string& expected) {
  if (!fits) throw std::invalid_argument(name + (" = " + std::to_string(found)) + ", expected " + expected);
}

/// The first positions of a row are there, the rest of it is padding.
inline void end_row(const BatchView& batch, std::size_t row, std::size_t places, std::size_t sequence = 0) {
  const auto length = static_cast<std::size_t>(batch.length);
  std::ranges::fill(batch.present[sequence].subspan(row * length, length).subspan(places), std::uint8_t{0});
}

using Ids = std::vector<std::int64_t>;

/// Ids of one field that are asked at their positions.
struct Row {
  Ids ids, targets;  ///< [positions]; a target is -1 where nothing is asked
};

/// A task whose example is a function of data_seed, split and index, so that nothing has to be loaded. Its schema has `train`,
/// `dev`, `test` and `data_seed`.
class GeneratedTask : public Task {
 public:
  void load() final {}
  std::int64_t size(Split split) const final { return sizes_[static_cast<std::size_t>(split)]; }

 protected:
  /// @param train how many examples `train = 0` means, where the schema allows it
  explicit GeneratedTask(const Values& parameters, std::int64_t train = 0)
      : sizes_{or_usual(parameters.integer("train"), train), parameters.integer("dev"), parameters.integer("test")},
        seed_(static_cast<std::uint64_t>(parameters.integer("data_seed"))) {}

  /// Of a parameter whose 0 stands for the usual number.
  static std::int64_t or_usual(std::int64_t chosen, std::int64_t usual) { return chosen > 0 ? chosen : usual; }

  const std::array<std::int64_t, 3>& sizes() const { return sizes_; }
  std::uint64_t seed() const { return seed_; }

  /// An example's own. Throws std::out_of_range where there is no such example.
  std::mt19937_64 random_of(Split split, std::int64_t index) const {
    const auto place = place_of(index, size(split));
    return generator(seed_, {place, place >> 32, static_cast<std::uint64_t>(split)});
  }

 private:
  std::array<std::int64_t, 3> sizes_;
  std::uint64_t seed_;
};

/// One whose examples are rows, of which one slice, where the task names any, tells the length.
class GeneratedRows : public GeneratedTask {
 public:
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const final {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto [ids, targets] = make(split, indices[row]);
      const auto first = row * static_cast<std::size_t>(batch.length);
      std::ranges::copy(ids, batch.ids[0].subspan(first).begin());
      std::ranges::copy(targets, batch.targets.subspan(first).begin());
      end_row(batch, row, ids.size());
      if (!batch.slices.empty()) batch.slices[row] = slice_of(std::ssize(ids));
    }
  }
  /// "3 1>4 5": 4 is asked for at the 1.
  std::string describe(Split split, std::int64_t index) const final {
    const auto [ids, targets] = make(split, index);
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      text += (i > 0 ? " " : "") + symbol(ids[i]);
      if (targets[i] >= 0) text += ">" + symbol(targets[i]);
    }
    return text;
  }

 protected:
  using GeneratedTask::GeneratedTask;

 private:
  /// Throws std::out_of_range where there is no such example.
  virtual Row make(Split split, std::int64_t index) const = 0;
  virtual std::int64_t slice_of(std::int64_t length) const { return length; }
  virtual std::string symbol(std::int64_t id) const { return std::to_string(id); }  ///< as a person reads it
};

/// "copy 1 copying 16 64": texts and numbers, or arrays of numbers, with a space between any two. The digest of a task whose
/// examples follow from them.
template <class... Parts>
std::string in_words(std::string text, const Parts&... parts) {
  const auto add = [&](const auto& part) {
    using Part = std::decay_t<decltype(part)>;
    if constexpr (std::is_arithmetic_v<Part>)
      text += " " + std::to_string(part);
    else if constexpr (std::is_constructible_v<std::string, Part>)
      text += " " + std::string(part);
    else
      for (const auto number : part) text += " " + std::to_string(number);
  };
  (add(parts), ...);
  return text;
}

/// What a sequence holds as a number, which says to which split it belongs, whatever the seed, so that none stands in two: the
/// first two bytes of its SHA-256.
inline std::uint64_t short_digest(std::span<const std::int64_t> ids) {
  const auto sum = Digest().add_column(ids).sum();
  return sum[0] * 256u + sum[1];
}

/// The same by multiplying, for tasks that have dealt theirs so (recall, mad): by another number their data would be others.
inline std::uint64_t short_hash(std::span<const std::int64_t> ids) {
  std::uint64_t sum = 0;
  for (const auto id : ids) {
    sum = (sum ^ static_cast<std::uint64_t>(id)) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

/// @param number short_digest or short_hash of a sequence that each of the three splits could have
inline bool belongs_to(Split split, std::uint64_t number) { return number % 3 == static_cast<std::uint64_t>(split); }

/// The first draw that belongs to the split. @param too_few() what std::invalid_argument says where none of 1000 does
template <class Draw, class Belongs, class TooFew>
auto draw_until(const Draw& draw, const Belongs& belongs, const TooFew& too_few) {
  constexpr int kMostDraws = 1000;
  for (int i = 0; i < kMostDraws; ++i)
    if (auto drawn = draw(); belongs(drawn)) return drawn;
  throw std::invalid_argument(too_few());
}

inline std::string too_few_rows(std::int64_t length, std::int64_t vocabulary) {
  return "length = " + std::to_string(length) + " with vocabulary = " + std::to_string(vocabulary) +
         " has too few sequences for three splits, expected more";
}

}  // namespace ablate
