#include "core/trial/conformance/task/contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ablate {
namespace {

/// Ratio and size above which a bound is not tried: 10^7 examples, lengths of 65,536 or deep nesting may take very long.
constexpr double kFarOff = 2, kFewestFar = 64;

/// Returns the allowed numbers to try, each once: the numbers in `wanted`, then the bounds if they are not far from `value`.
template <class Number>
std::vector<nlohmann::json> numbers_within(const ParameterInfo& parameter, Number value, std::vector<Number> wanted) {
  const double size = std::abs(static_cast<double>(value));
  if (std::abs(parameter.minimum) <= std::max(size, kFewestFar)) wanted.push_back(static_cast<Number>(parameter.minimum));
  if (std::abs(parameter.maximum) <= kFarOff * size) wanted.push_back(static_cast<Number>(parameter.maximum));
  std::vector<nlohmann::json> all;
  for (const auto number : wanted) {
    const auto real = static_cast<double>(number);
    if (real < parameter.minimum || real > parameter.maximum || number == value) continue;
    if (std::ranges::find(all, nlohmann::json(number)) == all.end()) all.emplace_back(number);
  }
  return all;
}

}  // namespace

Contents::Contents(const Task& task, const TaskInfo& info) {
  for (const auto& [split, name] : kSplits) {
    sizes_.push_back(task.size(split));
    all_.push_back(contents_of(task, info, split));
  }
}

std::string Contents::others(const Contents& than) const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (sizes_[i] != than.sizes_[i] || all_[i] != than.all_[i]) names.emplace_back(kSplits[i].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool Contents::same_but_targets(const Contents& than) const {
  const auto same = [](const Content& a, const Content& b) { return a.shown == b.shown; };
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (!std::ranges::equal(all_[i], than.all_[i], same)) return false;
  return true;
}

OwnFolder::~OwnFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

Loaded::Loaded(const TaskSubject& subject, const nlohmann::json& changes, const std::filesystem::path& cache)
    : task(subject.make(2, cache, changes)), info(task->info()) {
  task->load();
}

std::uintmax_t bytes_of(const TaskSubject& subject) {
  std::uintmax_t size = 1;
  for (const auto& file : subject.files) size += std::filesystem::file_size(file);
  return size;
}

std::vector<nlohmann::json> other_values(const ParameterInfo& parameter, const nlohmann::json& value) {
  std::vector<nlohmann::json> all;
  switch (parameter.type) {
    case ParameterType::kInteger: {
      const auto number = value.get<std::int64_t>();
      std::vector<std::int64_t> wanted = {number + 1, number - 1, number * 2, number / 2};
      // The upper 32 bits of a seed count, too. No seed takes longer than another one, so the maximum is tried.
      if (parameter.name == kDataSeed)
        wanted = {number + 1, number - 1, number + (std::int64_t{1} << 32), static_cast<std::int64_t>(parameter.maximum)};
      return numbers_within<std::int64_t>(parameter, number, wanted);
    }
    case ParameterType::kReal: {
      const auto number = value.get<double>();
      return numbers_within<double>(parameter, number, {number * 0.9, number * 1.1});
    }
    case ParameterType::kBoolean:
      all.emplace_back(!value.get<bool>());
      break;
    case ParameterType::kText:
      for (const auto& choice : parameter.choices)
        if (choice != value.get<std::string>()) all.emplace_back(choice);
      break;
    default:  // files, rates and plugins: other valid values are unknown
      break;
  }
  return all;
}

}  // namespace ablate
