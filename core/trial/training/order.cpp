#include "core/trial/training/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "core/util/error.h"

namespace ablate {
namespace {

using nlohmann::json;

std::string text_of(const std::mt19937_64& random) {
  std::ostringstream out;
  out << random;
  return out.str();
}

void restore(std::mt19937_64& random, const std::string& text) { std::istringstream(text) >> random; }

}  // namespace

std::uint64_t seed_of(std::uint64_t seed, SeedStream stream) {
  std::uint64_t z = seed + 0x9E3779B97F4A7C15ull * (static_cast<std::uint64_t>(stream) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

void permute(std::vector<std::int64_t>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

std::vector<std::int64_t> sample_of(std::int64_t size, std::int64_t count) {
  std::vector<std::int64_t> items(static_cast<std::size_t>(size));
  std::iota(items.begin(), items.end(), 0);
  // The sample is the beginning of a permutation, so samples are nested. A change of this draw needs a new runtime version.
  std::mt19937_64 random(1);
  const auto wanted = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < wanted; ++i) std::swap(items[i], items[i + random() % (items.size() - i)]);
  items.resize(wanted);
  std::sort(items.begin(), items.end());
  return items;
}

Shuffle::Shuffle(std::int64_t size, std::int64_t batch, std::uint64_t seed)
    : batch_(batch), random_(seed), order_(static_cast<std::size_t>(size)) {
  std::iota(order_.begin(), order_.end(), 0);
  reshuffle();
}

void Shuffle::reshuffle() {
  permute(order_, random_);
  at_ = 0;
}

Rows Shuffle::next() {
  Rows rows;
  while (static_cast<std::int64_t>(rows.indices.size()) < batch_) {
    if (at_ == order_.size()) reshuffle();
    rows.indices.push_back(order_[at_++]);
  }
  return rows;
}

json Shuffle::save() const { return {{"random", text_of(random_)}, {"order", order_}, {"at", at_}}; }

void Shuffle::load(const json& saved) {
  restore(random_, saved.at("random"));
  order_ = saved.at("order").get<std::vector<std::int64_t>>();
  at_ = saved.at("at");
}

Lanes::Lanes(std::int64_t size, std::int64_t lanes, std::int64_t segment, std::uint64_t seed)
    : part_(size / lanes), segment_(segment), random_(seed) {
  if (part_ < segment_)
    throw Error(
        fmt::format("the training split has {} positions, too few for train.batch = {} lanes, each with a segment of {}", size,
                    lanes, segment));
  first_.assign(static_cast<std::size_t>(lanes), 0);
  at_.assign(static_cast<std::size_t>(lanes), 0);
}

Rows Lanes::next() {
  Rows rows;
  for (std::size_t lane = 0; lane < at_.size(); ++lane) {
    if (at_[lane] + segment_ > part_) {
      const auto spare = std::min(segment_, part_ - segment_ + 1);
      first_[lane] = at_[lane] = static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(spare));
    }
    rows.indices.push_back(static_cast<std::int64_t>(lane) * part_ + at_[lane]);
    rows.position.push_back(at_[lane] - first_[lane]);
    at_[lane] += segment_;
  }
  return rows;
}

json Lanes::save() const { return {{"random", text_of(random_)}, {"first", first_}, {"at", at_}}; }

void Lanes::load(const json& saved) {
  restore(random_, saved.at("random"));
  first_ = saved.at("first").get<std::vector<std::int64_t>>();
  at_ = saved.at("at").get<std::vector<std::int64_t>>();
}

std::unique_ptr<Order> training_order(const TaskInfo& info, std::int64_t size, std::int64_t batch, std::uint64_t seed) {
  if (size == 0) throw Error("the task has no training examples");
  const auto own = seed_of(seed, SeedStream::kOrder);
  if (info.sampling == Sampling::kStream) return std::make_unique<Lanes>(size, batch, info.length, own);
  return std::make_unique<Shuffle>(size, batch, own);
}

}  // namespace ablate
