#include "core/trial/conformance/task/sampled_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "core/registry/plugin_info.h"
#include "core/registry/values.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostExamples = 2000, kMostWhenQuick = 200;               // examples of a split to check one by one
constexpr std::int64_t kMostNumbers = 1 << 22;                                   // numbers in all these examples: 32 MiB
constexpr std::int64_t kMostReadToTheEnd = 100'000, kMostNumbersRead = 1 << 24;  // limits for reading a whole split: some 0.2 s
constexpr std::int64_t kMostOfOther = 10'000;

/// A task with a seed draws its data if all parameters have their defaults. With other values, the seed may change nothing.
SeedPromise promise_of(const Candidate& candidate) {
  const auto& section = candidate.section;
  if (!section.contains(kDataSeed)) return SeedPromise::kNone;
  const bool defaults = section == complete_section(candidate.descriptor(), nlohmann::json::object(), candidate.find);
  return defaults ? SeedPromise::kOther : SeedPromise::kMaybeOther;
}

std::int64_t numbers_of(const TaskInfo& info) {
  std::int64_t numbers = 0;
  for (const auto& field : info.fields) numbers += std::max<std::int64_t>(field.reals, 1);
  return std::max<std::int64_t>(numbers * info.sequences * info.length, 1);
}

}  // namespace

std::string Sample::text(const char* split) const { return fmt::format("{}, {} of {} examples", split, examples.size(), size); }

SampledTask::SampledTask(const Candidate& wanted, std::filesystem::path scratch, bool is_quick)
    : candidate(wanted), quick(is_quick), seed(promise_of(wanted)), scratch_(std::move(scratch)) {}

std::filesystem::path SampledTask::folder(const std::string& name) const {
  const auto path = scratch_ / fmt::format("{}-{}", name, ++folders_);
  on_own_files([&] { return std::filesystem::create_directories(path); });
  return path;
}

std::unique_ptr<Task> SampledTask::make(int threads, const std::filesystem::path& cache, const nlohmann::json& changes) const {
  auto section = candidate.section;
  section.update(changes);
  const auto& descriptor = candidate.descriptor();
  const JsonValues values(plugin_from_json(section), describe(descriptor));
  auto made = descriptor.make_task({values, cache, threads});
  if (!made) throw std::logic_error(fmt::format("task {}: its factory returned nothing", descriptor.id));
  return made;
}

nlohmann::json SampledTask::with_few_examples(std::int64_t most) const {
  auto few = nlohmann::json::object();
  for (const auto& parameter : describe(candidate.descriptor()).parameters)
    if (parameter.type == ParameterType::kInteger && parameter.unit == "examples" && parameter.minimum <= most &&
        candidate.section.at(parameter.name).get<std::int64_t>() > most)
      few[parameter.name] = most;
  return few;
}

void SampledTask::load_other() {
  if (seed == SeedPromise::kNone) return;
  other = make(2, folder("cache"), {{kDataSeed, candidate.section.at(kDataSeed).get<std::int64_t>() + 1}});
  other->info();
  other->load();
}

void SampledTask::draw() {
  const auto most = std::clamp<std::int64_t>(kMostNumbers / numbers_of(info), 2, quick ? kMostWhenQuick : kMostExamples);
  for (const auto& [split, name] : kSplits) {
    auto& sample = samples_[static_cast<std::size_t>(split)];
    sample.size = task->size(split);
    sample.indices = drawn_indices(info, sample.size, most);
    sample.examples = read_examples(*task, info, split, sample.indices);
  }
}

bool SampledTask::is_small(Split split) const {
  return !quick && sample(split).size <= kMostReadToTheEnd &&
         sample(split).size * (is_stream() ? 1 : numbers_of(info)) <= kMostNumbersRead;
}

const std::vector<Content>& SampledTask::contents(Split split) const {
  auto& contents = contents_[static_cast<std::size_t>(split)];
  if (contents.empty()) contents = quick ? contents_of(*task, info, split, kMostExamples) : contents_of(*task, info, split);
  return contents;
}

void SampledTask::read_to_the_end(Split split,
                                  const std::function<void(std::int64_t index, const Example& example)>& take) const {
  std::vector<Content> contents;
  each_of(*task, info, split, sample(split).size, [&](std::int64_t index, const Example& example) {
    take(index, example);
    contents.push_back(content_of(example));
  });
  contents_[static_cast<std::size_t>(split)] = std::move(contents);
}

const std::vector<Content>& SampledTask::other_contents(Split split) const {
  auto& contents = other_contents_[static_cast<std::size_t>(split)];
  if (contents.empty()) contents = contents_of(*other, other->info(), split, kMostOfOther);
  return contents;
}

bool SampledTask::is_generated() const {
  if (generated_) return *generated_;
  generated_ = false;
  if (other == nullptr || text_of(other->info()) != text_of(info)) return false;
  std::unordered_set<std::size_t> seen;
  for (const auto& [split, name] : kSplits)
    for (const auto& content : contents(split)) seen.insert(content.shown);
  const auto& drawn = other_contents(Split::kTest);
  const auto known = std::ranges::count_if(drawn, [&](const Content& content) { return seen.count(content.shown) > 0; });
  generated_ = 2 * known < std::ssize(drawn);
  return *generated_;
}

}  // namespace ablate
