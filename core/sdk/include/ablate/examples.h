// Helpers for the indices and rows of a task, and the base of tasks that generate their examples. Torch-free.
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

/// Checks an index of Task::read or Task::describe. Throws std::out_of_range if there is no such example.
inline std::size_t place_of(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return static_cast<std::size_t>(index);
  throw std::out_of_range("found the index " + std::to_string(index) + ", expected one in [0, " + std::to_string(size) + ")");
}

/// Throws std::invalid_argument if the value of a parameter does not fit: "length = 7, expected an even number".
inline void expect(bool fits, const char* name, std::int64_t found, const std::string& expected) {
  if (!fits) throw std::invalid_argument(name + (" = " + std::to_string(found)) + ", expected " + expected);
}

/// Marks the positions of a row from `places` on as padding.
inline void end_row(const BatchView& batch, std::size_t row, std::size_t places, std::size_t sequence = 0) {
  const auto length = static_cast<std::size_t>(batch.length);
  std::ranges::fill(batch.present[sequence].subspan(row * length, length).subspan(places), std::uint8_t{0});
}

using Ids = std::vector<std::int64_t>;

/// Ids of one field, with a target at each position.
struct Row {
  Ids ids, targets;  ///< [positions]; a target of -1: the position has no target
};

/// Task whose examples follow from data_seed, split and index, so no data are loaded. Schema: `train`, `dev`, `test`,
/// `data_seed`.
class GeneratedTask : public Task {
 public:
  void load() final {}
  std::int64_t size(Split split) const final { return sizes_[static_cast<std::size_t>(split)]; }

 protected:
  /// @param train number of examples if the parameter `train` is 0, for schemas that allow 0
  explicit GeneratedTask(const Values& parameters, std::int64_t train = 0)
      : sizes_{or_usual(parameters.integer("train"), train), parameters.integer("dev"), parameters.integer("test")},
        seed_(static_cast<std::uint64_t>(parameters.integer("data_seed"))) {}

  /// Returns the value of a parameter, or the usual number if the value is 0.
  static std::int64_t or_usual(std::int64_t chosen, std::int64_t usual) { return chosen > 0 ? chosen : usual; }

  const std::array<std::int64_t, 3>& sizes() const { return sizes_; }
  std::uint64_t seed() const { return seed_; }

  /// Random generator of one example. Throws std::out_of_range if there is no such example.
  std::mt19937_64 random_of(Split split, std::int64_t index) const {
    const auto place = place_of(index, size(split));
    return generator(seed_, {place, place >> 32, static_cast<std::uint64_t>(split)});
  }

 private:
  std::array<std::int64_t, 3> sizes_;
  std::uint64_t seed_;
};

/// Generated task whose examples are rows. The only slice that such a task may have is slice_of(length), by default the length.
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
  /// Returns a text such as "3 1>4 5": at the id 1, the target is 4.
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
  /// Throws std::out_of_range if there is no such example.
  virtual Row make(Split split, std::int64_t index) const = 0;
  virtual std::int64_t slice_of(std::int64_t length) const { return length; }
  virtual std::string symbol(std::int64_t id) const { return std::to_string(id); }  ///< text of an id for a person
};

/// Joins texts, numbers and arrays with spaces, "copy 1 copying 16 64": the digest of a task that depends only on them.
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

/// Number computed from the content of a sequence: the first two bytes of its SHA-256. It decides the split of the sequence,
/// independent of the seed, so that no sequence is in two splits.
inline std::uint64_t short_digest(std::span<const std::int64_t> ids) {
  const auto sum = Digest().add_column(ids).sum();
  return sum[0] * 256u + sum[1];
}

/// Number like short_digest(), by multiplication. Tasks recall and mad keep it, because another number would change their data.
inline std::uint64_t short_hash(std::span<const std::int64_t> ids) {
  std::uint64_t sum = 0;
  for (const auto id : ids) {
    sum = (sum ^ static_cast<std::uint64_t>(id)) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

/// @param number short_digest or short_hash of a sequence, which may belong to any of the three splits
inline bool belongs_to(Split split, std::uint64_t number) { return number % 3 == static_cast<std::uint64_t>(split); }

/// Returns the first draw that belongs to the split.
/// @param too_few() message of the std::invalid_argument that is thrown if none of 1000 draws belongs to the split
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
