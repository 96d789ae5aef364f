#include "core/trial/conformance/task_examples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

namespace ablate {
namespace {

/// A batch's memory, as the host hands it in.
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
  std::size_t per_row() const { return info_.objective == Objective::kPositions ? length_ : 1; }

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

template <class T>
std::size_t mixed(std::size_t seed, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return seed * 0x9E3779B97F4A7C15U + std::hash<std::string_view>()({bytes, values.size() * sizeof(T)});
}

std::string presence_fault(const std::vector<std::uint8_t>& present, const TaskInfo& info, std::int64_t longest) {
  const auto end = std::find_if(present.rbegin(), present.rend(), [](auto one) { return one != 0; }).base() - present.begin();
  if (end == 0) return info.sampling == Sampling::kStream ? "" : "nothing is present";
  if (end > longest) return fmt::format("present at {}, expected at most {} positions", end - 1, longest);
  const auto gap = std::find(present.begin(), present.begin() + end, 0) - present.begin();
  return gap < end && !info.holes ? fmt::format("a token after padding at {}, and no holes are told", gap) : "";
}

bool is_snake(const std::string& name) {
  return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
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

std::vector<std::int64_t> indices_of(const TaskInfo& info, std::int64_t size, std::int64_t most) {
  const auto stride = info.sampling == Sampling::kStream ? info.length : 1;
  std::vector<std::int64_t> all;
  for (std::int64_t index = 0; index < size && static_cast<std::int64_t>(all.size()) < most; index += stride)
    all.push_back(index);
  return all;
}

Example joined(const Example& first, const Example& second) {
  auto whole = first;
  for (std::size_t i = 0; i < whole.ids.size(); ++i) append(whole.ids[i], second.ids[i]);
  for (std::size_t i = 0; i < whole.reals.size(); ++i) append(whole.reals[i], second.reals[i]);
  for (std::size_t i = 0; i < whole.present.size(); ++i) append(whole.present[i], second.present[i]);
  append(whole.targets, second.targets);
  return whole;
}

std::string fault_of(const Example& example, const TaskInfo& info, std::int64_t longest) {
  for (const auto& present : example.present)
    if (auto fault = presence_fault(present, info, longest); !fault.empty()) return fault;
  for (std::size_t i = 0; i < example.ids.size(); ++i) {
    const auto& field = info.fields[i % info.fields.size()];
    for (std::size_t at = 0; at < example.ids[i].size(); ++at)
      if (const auto id = example.ids[i][at]; id < 0 || id >= field.vocabulary)
        return fmt::format("{}: id {} at {}, expected below {}", field.name, id, at, field.vocabulary);
    for (const auto number : example.reals[i])
      if (!std::isfinite(number)) return fmt::format("{}: {} is no finite number", field.name, number);
  }
  for (std::size_t at = 0; at < example.targets.size(); ++at) {
    const auto target = example.targets[at];
    if (target < -1 || target >= info.classes)
      return fmt::format("target {} at {}, expected [0, {}), or -1 where none is asked for", target, at, info.classes);
    if (target >= 0 && info.objective == Objective::kPositions && example.present.front()[at] == 0)
      return fmt::format("a target at {}, where nothing is present", at);
  }
  return "";
}

std::string fault_of(const TaskInfo& info) {
  if (info.fields.empty() || info.length < 1 || info.classes < 2)
    return fmt::format("{} fields, length {}, classes {}; expected at least 1, 1 and 2", info.fields.size(), info.length,
                       info.classes);
  for (const auto& field : info.fields) {
    if (!is_snake(field.name)) return fmt::format("the field \"{}\" is not snake_case", field.name);
    if ((field.vocabulary >= 2) == (field.reals >= 1) || field.vocabulary < 0 || field.reals < 0)
      return fmt::format("the field {} has vocabulary {} and reals {}; expected one of at least 2, or one of at least 1",
                         field.name, field.vocabulary, field.reals);
  }
  if (info.sequences != 1 && info.sequences != 2) return fmt::format("{} sequences, expected 1 or 2", info.sequences);
  if (info.sequences == 2 && (info.objective != Objective::kClass || info.sampling != Sampling::kExamples))
    return "two sequences, and not one class of an example";
  if (info.sampling == Sampling::kStream && info.objective != Objective::kPositions)
    return "a stream asks for targets at positions";
  if (info.train_length < 0 || info.train_length > info.length)
    return fmt::format("train_length {}, expected at most the length, {}", info.train_length, info.length);
  const auto& picture = info.geometry;
  if (picture.rows > 0 && picture.rows * picture.columns * picture.channels != info.length)
    return fmt::format("a picture of {} x {} x {}, and a length of {}", picture.rows, picture.columns, picture.channels,
                       info.length);
  for (const auto& name : info.slices)
    if (!is_snake(name)) return fmt::format("the slice \"{}\" is not snake_case", name);
  return "";
}

std::string text_of(const TaskInfo& info) {
  std::string fields;
  for (const auto& field : info.fields) fields += fmt::format("{} {} {}, ", field.name, field.vocabulary, field.reals);
  return fmt::format("{}{} sequences, length {} ({} in training), {} classes, {} {} {} {}, {} x {} x {}, \"{}\", {}", fields,
                     info.sequences, info.length, info.train_length, info.classes, static_cast<int>(info.objective),
                     static_cast<int>(info.sampling), info.causal, info.holes, info.geometry.rows, info.geometry.columns,
                     info.geometry.channels, info.unit, info.slices);
}

std::size_t hash_of(const Example& example) {
  std::size_t hash = 0;
  for (const auto& ids : example.ids) hash = mixed(hash, ids);
  for (const auto& reals : example.reals) hash = mixed(hash, reals);
  for (const auto& present : example.present) hash = mixed(hash, present);
  return hash;
}

}  // namespace ablate
