// Frequencies of symbols after contexts of up to 3 symbols. Probabilities are interpolated (Witten and Bell 1991, method C).
// Classes are predicted by the longest known context (back-off).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

/// Hash table whose keys are 64-bit hashes. Values with equal hashes are counted together.
template <class Counted>
class CountTable {
 public:
  /// Returns the value of a key, and adds the key if it is missing. The reference is valid until the next call.
  Counted& at(std::uint64_t key) {
    if (10 * (size_ + 1) > 7 * keys_.size()) grow();
    const auto slot = slot_of(key);
    if (keys_[slot] == 0) keys_[slot] = key | 1, ++size_;
    return values_[slot];
  }
  const Counted* find(std::uint64_t key) const {
    const auto slot = slot_of(key);
    return keys_[slot] == 0 ? nullptr : &values_[slot];
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    key |= 1;  // 0 is free
    auto slot = (key >> 20) & (keys_.size() - 1);
    while (keys_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & (keys_.size() - 1);
    return slot;
  }

  void grow() {
    std::vector<std::uint64_t> keys(2 * keys_.size());
    std::vector<Counted> values(keys.size());
    keys.swap(keys_), values.swap(values_);
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i] != 0) {
        const auto slot = slot_of(keys[i]);
        keys_[slot] = keys[i], values_[slot] = values[i];
      }
  }

  std::vector<std::uint64_t> keys_ = std::vector<std::uint64_t>(1 << 10);
  std::vector<Counted> values_ = std::vector<Counted>(1 << 10);
  std::size_t size_ = 0;
};

constexpr std::size_t kOrders = 4, kMostKept = 11'000'000;  // entries of a table: about 200 MB
constexpr std::int64_t kMostCounted = 1 << 24;

/// Hashes of the last 0, 1, 2, ... symbols before a target.
using Contexts = std::array<std::uint64_t, kOrders>;

class Counts {
 public:
  Counts(const TaskInfo& info, bool judged_by_share)
      : classes_(static_cast<double>(info.classes)), judged_by_share_(judged_by_share), field_(counted_field(info)) {}

  static std::size_t counted_field(const TaskInfo& info) {
    std::size_t field = 0;
    while (field < info.fields.size() && info.fields[field].vocabulary == 0) ++field;
    return field;
  }

  void add(const Example& example, std::size_t at, std::int64_t target) {
    for (const auto context : contexts(example, at)) {
      auto& seen = contexts_.at(context);
      ++seen.count;
      auto& pair = pairs_.at(mixed(context, static_cast<std::uint64_t>(target)));
      if (++pair.count == 1) ++seen.kinds;
      if (judged_by_share_ && pair.count > seen.most)
        seen.most = pair.count, seen.commonest = static_cast<std::uint32_t>(target);
    }
  }
  bool is_full() const { return pairs_.size() >= kMostKept || contexts_.size() >= kMostKept; }

  /// Returns the answer of each order, from 1 on.
  std::array<FloorAnswer, kOrders> answers(const Example& example, std::size_t at, std::int64_t target) const {
    std::array<FloorAnswer, kOrders> all{};
    double p = 1 / classes_;
    std::int64_t predicted = 0;
    const auto at_hand = contexts(example, at);
    for (std::size_t order = 0; order < kOrders; ++order) {
      if (const auto* seen = contexts_.find(at_hand[order])) {
        const auto* pair = pairs_.find(mixed(at_hand[order], static_cast<std::uint64_t>(target)));
        const double kinds = seen->kinds;
        p = ((pair == nullptr ? 0 : pair->count) + kinds * p) / (seen->count + kinds);
        predicted = seen->commonest;
      }
      all[order] = {predicted, -std::log(p)};
    }
    return all;
  }

 private:
  struct Seen {
    std::uint32_t count = 0, kinds = 0, most = 0, commonest = 0;
  };
  struct Pair {
    std::uint32_t count = 0;
  };

  Contexts contexts(const Example& example, std::size_t at) const {
    Contexts all{};
    auto hash = std::uint64_t{1};
    for (std::size_t n = 0; n < kOrders; ++n) {
      all[n] = mixed(hash, n);
      // Positions before the beginning, or without content, have a symbol of their own.
      const bool is_there = n <= at && example.present[0][at - n] != 0;
      hash = mixed(hash, is_there ? static_cast<std::uint64_t>(example.ids[field_][at - n]) + 1 : 0);
    }
    return all;
  }

  double classes_;
  bool judged_by_share_;
  std::size_t field_;
  CountTable<Seen> contexts_;
  CountTable<Pair> pairs_;
};

/// Predicts by counts of one order.
class OfOrder final : public Predictor {
 public:
  OfOrder(std::shared_ptr<const Counts> counts, std::size_t order) : counts_(std::move(counts)), order_(order) {}
  FloorAnswer answer(const Example& example, std::size_t at, std::int64_t target) const override {
    return counts_->answers(example, at, target)[order_ - 1];
  }

 private:
  std::shared_ptr<const Counts> counts_;
  std::size_t order_;
};

bool concerns_counts(const TaskInfo& info) {
  return asks_of(info.objective).in_place() && Counts::counted_field(info) < info.fields.size();
}

TrainedPredictor train_counts(const LearnedData& data) {
  auto counts = std::make_shared<Counts>(data.info(), data.judged_by_share());
  std::int64_t trained = 0;
  const bool is_stream = data.info().sampling == Sampling::kStream;
  data.train(kMostCounted, [&](const Example& example) {
    if (counts->is_full()) return;
    trained += is_stream ? 0 : 1;
    each_target_of(example, [&](std::size_t at, std::int64_t target) {
      counts->add(example, at, target);
      trained += is_stream ? 1 : 0;
    });
  });
  std::array<double, kOrders> bad{};
  data.dev(kMostCounted / 8, [&](const Example& example) {
    each_target_of(example, [&](std::size_t at, std::int64_t target) {
      const auto answers = counts->answers(example, at, target);
      for (std::size_t order = 0; order < kOrders; ++order)
        bad[order] += data.judged_by_share() ? (answers[order].predicted == target ? 0.0 : 1.0) : answers[order].nats;
    });
  });
  const auto best = static_cast<std::size_t>(std::min_element(bad.begin(), bad.end()) - bad.begin()) + 1;
  TrainedPredictor all{std::make_unique<OfOrder>(counts, best), fmt::format("order {}", best), trained};
  for (std::size_t order = 1; order <= kOrders; ++order)
    if (order != best) all.others.emplace_back(fmt::format("order {}", order), std::make_unique<OfOrder>(counts, order));
  return all;
}

}  // namespace

const PredictorKind predictors::counts = {"counts", concerns_counts, train_counts};

}  // namespace ablate
