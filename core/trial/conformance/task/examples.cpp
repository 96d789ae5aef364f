#include "core/trial/conformance/task/examples.h"

#include <algorithm>
#include <random>
#include <set>
#include <string_view>

#include "core/shared/objectives.h"

namespace ablate {
namespace {

/// Memory of a batch, in the layout of the host.
class BatchMemory {
 public:
  BatchMemory(const TaskInfo& info, std::int64_t batch, std::int64_t length)
      : info_(info),
        batch_(static_cast<std::size_t>(batch)),
        length_(static_cast<std::size_t>(length)),
        starts_(batch_),
        targets_(batch_ * per_row(), -1),
        slices_(batch_ * info.slices.size()) {
    for (std::int64_t sequence = 0; sequence < info.sequences; ++sequence) {
      present_.emplace_back(batch_ * length_, std::uint8_t{1});
      for (const auto& field : info.fields) {
        ids_.emplace_back(field.vocabulary > 0 ? batch_ * length_ : 0);
        reals_.emplace_back(batch_ * length_ * static_cast<std::size_t>(field.reals));
      }
    }
  }

  BatchView view() {
    BatchView view{.length = static_cast<std::int64_t>(length_), .starts = starts_, .targets = targets_, .slices = slices_};
    view.ids.assign(ids_.begin(), ids_.end());
    view.reals.assign(reals_.begin(), reals_.end());
    view.present.assign(present_.begin(), present_.end());
    return view;
  }

  Example row(std::size_t index) const {
    const auto cut = [&](const auto& values) {
      const auto size = static_cast<std::ptrdiff_t>(values.size() / batch_);
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(index) * size;
      return std::decay_t<decltype(values)>(first, first + size);
    };
    Example example{.starts = starts_[index], .targets = cut(targets_), .slices = cut(slices_)};
    for (const auto& values : ids_) example.ids.push_back(cut(values));
    for (const auto& values : reals_) example.reals.push_back(cut(values));
    for (const auto& values : present_) example.present.push_back(cut(values));
    return example;
  }

 private:
  std::size_t per_row() const { return asks_of(info_.objective).each ? length_ : 1; }

  const TaskInfo& info_;
  std::size_t batch_, length_;
  std::vector<std::vector<std::int64_t>> ids_;
  std::vector<std::vector<float>> reals_;
  std::vector<std::vector<std::uint8_t>> present_;
  std::vector<std::uint8_t> starts_;
  std::vector<std::int64_t> targets_, slices_;
};

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Mixes the first `count` values into the hash.
template <class T>
std::size_t mixed_all(std::size_t seed, const std::vector<T>& values, std::size_t count) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return seed * 0x9E3779B97F4A7C15U + std::hash<std::string_view>()({bytes, count * sizeof(T)});
}

/// Returns one past the last value that is not `nothing`.
template <class T>
std::size_t end_of(const std::vector<T>& values, T nothing) {
  const auto last = std::find_if(values.rbegin(), values.rend(), [&](T value) { return value != nothing; });
  return static_cast<std::size_t>(last.base() - values.begin());
}

/// Mixes the content of all positions before `end` into the hash. Positions that are not present count as 0.
template <class T>
std::size_t mixed_present(std::size_t seed, std::vector<T> values, const std::vector<std::uint8_t>& present, std::size_t end) {
  const auto each = values.size() / std::max<std::size_t>(present.size(), 1);
  for (std::size_t at = 0; at < end; ++at)
    if (present[at] == 0) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at * each), each, T{});
  return mixed_all(seed, values, end * each);
}

}  // namespace

std::vector<Example> read_examples(const Task& task, const TaskInfo& info, Split split, std::span<const std::int64_t> indices,
                                   std::int64_t length) {
  if (indices.empty()) return {};
  BatchMemory memory(info, static_cast<std::int64_t>(indices.size()), length > 0 ? length : info.length);
  task.read(split, indices, memory.view());
  std::vector<Example> examples;
  for (std::size_t i = 0; i < indices.size(); ++i) examples.push_back(memory.row(i));
  return examples;
}

std::vector<std::int64_t> drawn_indices(const TaskInfo& info, std::int64_t size, std::int64_t most) {
  const auto stride = info.sampling == Sampling::kStream ? info.length : 1, last = (size - 1) / stride;
  std::set<std::int64_t> drawn = {0, last};
  if (last < most)
    for (std::int64_t row = 1; row < last; ++row) drawn.insert(row);
  std::mt19937_64 random(1);
  while (last >= most && static_cast<std::int64_t>(drawn.size()) < most)
    drawn.insert(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last)));
  std::vector<std::int64_t> indices;
  for (const auto row : drawn) indices.push_back(row * stride);
  return indices;
}

void append(Example& to, const Example& behind) {
  for (std::size_t i = 0; i < to.ids.size(); ++i) append(to.ids[i], behind.ids[i]);
  for (std::size_t i = 0; i < to.reals.size(); ++i) append(to.reals[i], behind.reals[i]);
  for (std::size_t i = 0; i < to.present.size(); ++i) append(to.present[i], behind.present[i]);
  append(to.targets, behind.targets);
}

Example part_of(const Example& whole, std::size_t begin, std::size_t count) {
  const auto places = whole.present.front().size();
  const auto cut = [&](const auto& values) {
    const auto each = values.size() / std::max<std::size_t>(places, 1);
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin * each);
    return std::decay_t<decltype(values)>(first, first + static_cast<std::ptrdiff_t>(count * each));
  };
  Example part;
  part.targets = cut(whole.targets);
  for (const auto& values : whole.ids) part.ids.push_back(cut(values));
  for (const auto& values : whole.reals) part.reals.push_back(cut(values));
  for (const auto& values : whole.present) part.present.push_back(cut(values));
  return part;
}

std::size_t hash_of(const Example& example) {
  std::size_t hash = 0;
  const auto fields = example.ids.size() / std::max<std::size_t>(example.present.size(), 1);
  for (std::size_t sequence = 0; sequence < example.present.size(); ++sequence) {
    const auto& present = example.present[sequence];
    const auto end = end_of(present, std::uint8_t{0});
    hash = mixed_all(hash, present, end);
    for (auto part = sequence * fields; part < (sequence + 1) * fields; ++part) {
      hash = mixed_present(hash, example.ids[part], present, end);
      hash = mixed_present(hash, example.reals[part], present, end);
    }
  }
  return hash;
}

Content content_of(const Example& example) {
  const auto shown = hash_of(example);
  return {shown, mixed_all(shown, example.targets, end_of(example.targets, std::int64_t{-1}))};
}

std::vector<Content> contents_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most) {
  std::vector<Content> all;
  each_of(task, info, split, most, [&](std::int64_t, const Example& example) { all.push_back(content_of(example)); });
  return all;
}

void each_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most,
             const std::function<void(std::int64_t index, const Example& example)>& take) {
  constexpr std::int64_t chunk = 256;
  const auto stride = info.sampling == Sampling::kStream ? info.length : 1;
  const auto end = std::min(task.size(split), most * stride);
  for (std::int64_t index = 0; index < end;) {
    std::vector<std::int64_t> indices;
    for (; index < end && std::ssize(indices) < chunk; index += stride) indices.push_back(index);
    const auto examples = read_examples(task, info, split, indices);
    for (std::size_t i = 0; i < examples.size(); ++i) take(indices[i], examples[i]);
  }
}

}  // namespace ablate
