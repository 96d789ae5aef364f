// Checks that a stream is one text: rows of any length read the same text, and each target is the next symbol.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <unordered_map>

#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/contents.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostPlaces = 1 << 20;  // size limit of a split that is read to its end
constexpr int kDrawnPlaces = 32;

std::int64_t places_of(const Example& text) { return std::ssize(text.targets); }

Example row_at(const TaskSubject& subject, Split split, std::int64_t index, std::int64_t places) {
  return read_examples(*subject.task, subject.info, split, {&index, 1}, places).front();
}

/// Returns positions spread over a split.
std::vector<std::int64_t> drawn_places(std::int64_t size) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> places;
  for (int i = 0; i < kDrawnPlaces; ++i)
    places.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(size)));
  return places;
}

}  // namespace

Example stretch(const TaskSubject& subject, Split split, std::int64_t begin, std::int64_t count) {
  const auto end = std::min(begin + count, subject.sample(split).size);
  Example whole;
  for (auto at = begin; at < end;) {
    std::vector<std::int64_t> indices;
    for (; at < end && indices.size() < 64; at += subject.info.length) indices.push_back(at);
    for (const auto& row : read_examples(*subject.task, subject.info, split, indices))
      whole.targets.empty() ? void(whole = row) : append(whole, row);
  }
  return part_of(whole, 0, static_cast<std::size_t>(end - begin));
}

std::vector<std::int64_t> stretches(std::int64_t size, std::int64_t most, std::int64_t each) {
  if (size <= most) return {0};
  const auto count = std::max<std::int64_t>(most / each, 1);
  std::vector<std::int64_t> begins;
  for (std::int64_t i = 0; i < count; ++i) begins.push_back(i * ((size - each) / count));
  return begins;
}

std::vector<std::uint64_t> symbols_of(const TaskSubject& subject, const Example& text) {
  const Symbols symbols(subject.info, subject.sample(Split::kTrain).examples, 8);
  std::vector<std::uint64_t> all(text.targets.size());
  for (std::size_t part = 0; part < symbols.parts(); ++part)
    for (std::size_t at = 0; at < all.size(); ++at) all[at] = mixed(all[at], symbols(text, part, at));
  return all;
}

/// Checks that a row equals two shorter rows in sequence, from any start, and that a split's first row starts a text.
void task_contiguous(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto length = subject.info.length, size = subject.sample(split).size;
  if (row_at(subject, split, 0, 1).starts != 1) return finding.off_by(kFault, "no text starts with the first row");
  for (const auto begin : {std::int64_t{0}, size / 3, std::max<std::int64_t>(size - length, 0)})
    for (const auto part : {std::int64_t{1}, length / 2, length - 1}) {
      if (part < 1 || part >= length || begin + part >= size) continue;
      auto parts = row_at(subject, split, begin, part);
      append(parts, row_at(subject, split, begin + part, length - part));
      if (!(parts == row_at(subject, split, begin, length)))
        return finding.off_by(
            kFault, fmt::format("{} positions from {} on differ from rows of {} and {}", length, begin, part, length - part));
    }
  const auto off_the_grid = [&](std::int64_t begin, std::int64_t count) {  // begin: start of a row
    const auto shift = std::min((length + 1) / 2, size - 1 - begin);
    if (shift < 1) return true;
    const auto whole = stretch(subject, split, begin, count);
    const auto behind = places_of(whole) - shift;
    return behind < 1 || part_of(whole, static_cast<std::size_t>(shift), static_cast<std::size_t>(behind)) ==
                             stretch(subject, split, begin + shift, behind);
  };
  constexpr std::int64_t each = 4096;
  const auto rows = (each + length - 1) / length;
  for (const auto begin : stretches(size, kMostPlaces, std::max(each, 2 * length))) {
    const auto row = begin / length * length;
    if (!off_the_grid(row, size <= kMostPlaces ? size : std::max<std::int64_t>(rows, 2) * length))
      return finding.off_by(kFault, fmt::format("rows from {} on differ from the rows that begin half a row later", row));
  }
}

void task_past_the_end(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto length = subject.info.length, size = subject.sample(split).size;
  for (const auto left : {std::int64_t{1}, std::min(length / 2, size)}) {
    if (left < 1) continue;
    const auto index = size - left;
    const auto row = row_at(subject, split, index, length);
    for (std::size_t at = 0; at < row.targets.size(); ++at) {
      const bool inside = static_cast<std::int64_t>(at) < left;
      if ((row.present.front()[at] != 0) != inside || (row.targets[at] >= 0) != inside)
        return finding.off_by(kFault, fmt::format("{} positions from {} of {} on: at {} expected {}", length, index, size, at,
                                                  inside ? "a token and its target" : "nothing"));
    }
  }
}

namespace {

/// Returns one value for each of `places`: true if a text starts there. Reads rows of `positions` positions.
std::vector<bool> starts_at(const Task& task, const TaskInfo& info, Split split, std::span<const std::int64_t> places,
                            std::int64_t positions) {
  std::vector<bool> all;
  for (const auto& row : read_examples(task, info, split, places, positions)) all.push_back(row.starts != 0);
  return all;
}

/// Returns a loaded task with another row length, or null if no parameter changes that length.
std::unique_ptr<Task> with_other_rows(const TaskSubject& subject, const std::filesystem::path& cache) {
  for (const auto& parameter : describe(subject.candidate.descriptor()).parameters) {
    if (parameter.type != ParameterType::kInteger) continue;
    const auto value = subject.candidate.section.at(parameter.name).get<std::int64_t>();
    for (const auto other : {value - 1, value + 1}) try {
        auto made = subject.make(2, cache, {{parameter.name, other}});
        if (made->info().length == subject.info.length) break;
        made->load();
        return made;
      } catch (const std::exception&) {  // a value that the task refuses
      }
  }
  return nullptr;
}

}  // namespace

/// Checks that the starts of texts are few, and do not depend on the length, batch or beginnings of the rows that are read.
void task_starts(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto length = subject.info.length, size = subject.sample(split).size;
  const auto at = [&](std::span<const std::int64_t> places, std::int64_t positions) {
    return starts_at(*subject.task, subject.info, split, places, positions);
  };
  std::vector<std::int64_t> grid, off_grid, following;
  for (const auto place : drawn_places(size)) {
    if (const auto row = place / length * length; row > 0) grid.push_back(row);
    if (place % length != 0) off_grid.push_back(place);
  }
  for (std::int64_t place = 1; place <= std::min<std::int64_t>(256, size - 1); ++place) following.push_back(place);
  for (const auto* places : {&grid, &off_grid}) {
    auto backwards = *places;
    std::ranges::reverse(backwards);
    auto found = at(backwards, std::max<std::int64_t>(length / 2, 1));
    std::reverse(found.begin(), found.end());
    const auto before = at(*places, length);
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i] != found[i])
        return finding.off_by(kFault,
                              fmt::format("the start of a text at {} depends on the row's length or its batch", (*places)[i]));
  }
  const auto many = std::ranges::count(at(following, 1), true);
  if (2 * many > std::ssize(following) && std::ssize(following) >= kDrawnPlaces)
    return finding.off_by(kFault,
                          fmt::format("a text starts at {} of {} places that follow each other", many, following.size()));
  const auto none = [](const auto& starts) { return std::ranges::count(starts, true) == 0; };
  if (grid.size() < 8 || off_grid.size() < 8 || !none(at(off_grid, length))) return;
  const auto on_grid = at(grid, length);
  std::vector<std::int64_t> started;
  for (std::size_t i = 0; i < grid.size(); ++i)
    if (on_grid[i]) started.push_back(grid[i]);
  if (started.size() < 4) return;
  // Either texts fill whole rows, or the task wrongly starts a text at each row. Rows of another length show the difference.
  const OwnFolder cache(subject.folder("cache"));
  const auto other = with_other_rows(subject, cache.folder);
  if (other == nullptr || other->size(split) != size) return finding.say("texts start with rows");
  const auto info = other->info();
  std::erase_if(started, [&](std::int64_t place) { return place % info.length == 0; });
  if (!started.empty() && none(starts_at(*other, info, split, started, info.length)))
    finding.off_by(kFault,
                   fmt::format("texts start with rows of {} positions, and elsewhere with rows of {}", length, info.length));
}

namespace {

constexpr std::size_t kMostAhead = 4;
/// kFewestLeft: fewest targets that a fixed answer misses. A useless table predicts half of them by chance once in 10^13
/// streams. kFewestAstray: fewest targets that are not the next symbol. With 3 symbols or more, nine of ten of these targets
/// equal one later symbol by chance once in 10^16 streams.
constexpr double kFewestLeft = 200, kFewestAstray = 100;

/// Positions for which the symbol `ahead` positions later differs from the next symbol. In a run of blanks both are equal.
struct AheadOf {
  std::vector<const std::uint64_t*> next;  ///< pointers to the next symbol
  std::vector<std::int64_t> targets;
};

/// Counts of targets. `next`: equal to the next symbol. `others`: all other targets. `ahead`: `others` equal to a later symbol.
struct Astray {
  double next = 0, others = 0, ahead = 0;
};

/// From every second position, makes a table that maps the symbol `ahead` positions later to the target. Scores it on the rest.
/// Returns the table's gain over the best fixed answer, per target that this answer misses; nullopt if these targets are few.
std::optional<double> gain_of_table(const AheadOf& places, std::size_t ahead) {
  std::unordered_map<std::uint64_t, std::unordered_map<std::int64_t, int>> tables;
  std::unordered_map<std::int64_t, int> counts;
  const auto most = [](const auto& of) {
    return *std::ranges::max_element(of, {}, [](const auto& one) { return std::pair(one.second, -one.first); });
  };
  for (std::size_t i = 0; i < places.targets.size(); i += 2) ++tables[places.next[i][ahead - 1]][places.targets[i]];
  double met = 0, asked = 0;
  for (std::size_t i = 1; i < places.targets.size(); i += 2) {
    ++asked, ++counts[places.targets[i]];
    const auto table = tables.find(places.next[i][ahead - 1]);
    met += table != tables.end() && most(table->second).first == places.targets[i] ? 1 : 0;
  }
  const double constant = counts.empty() ? 0 : most(counts).second;
  if (asked - constant < kFewestLeft) return std::nullopt;
  return (met - constant) / (asked - constant);
}

}  // namespace

/// Checks that the next symbol predicts the target at least as well as a later one. If the next symbol always is the target,
/// this cannot fail by chance.
void task_next_token(const TaskSubject& subject, Splits on, Finding& finding) {
  constexpr std::int64_t most = 1 << 17, each = 1 << 12;
  const auto split = on.front().split;
  const auto size = subject.sample(split).size;
  const bool are_ids = subject.info.fields.size() == 1 && subject.info.fields.front().vocabulary == subject.info.classes;
  std::vector<std::vector<std::uint64_t>> texts;
  std::array<AheadOf, kMostAhead + 1> places;
  std::array<Astray, kMostAhead + 1> astray;
  for (const auto begin : stretches(size, most, each)) {
    const auto text = stretch(subject, split, begin, size <= most ? size : each);
    const auto& symbols = texts.emplace_back(symbols_of(subject, text));
    for (std::size_t at = 0; at + kMostAhead < symbols.size(); ++at)
      for (std::size_t ahead = 2; ahead <= kMostAhead; ++ahead) {
        const auto target = text.targets[at];
        if (symbols[at + ahead] == symbols[at + 1] || target < 0) continue;
        places[ahead].next.push_back(&symbols[at + 1]);
        places[ahead].targets.push_back(target);
        if (!are_ids) continue;
        const bool is_next = text.ids.front()[at + 1] == target;
        astray[ahead].next += is_next ? 1 : 0;
        astray[ahead].others += is_next ? 0 : 1;
        astray[ahead].ahead += !is_next && text.ids.front()[at + ahead] == target ? 1 : 0;
      }
  }
  for (std::size_t ahead = 2; ahead <= kMostAhead; ++ahead) {
    const auto next = gain_of_table(places[ahead], 1), behind = gain_of_table(places[ahead], ahead);
    if (next && behind && *behind >= 0.5 && *behind > *next + 0.1)
      return finding.off_by(kFault, fmt::format("the symbol {} places on predicts {:.2f} of the targets, the next one {:.2f}",
                                                ahead, *behind, *next));
    // With only two symbols, a target that is not the next symbol is always the other one.
    const auto& [is_next, others, is_ahead] = astray[ahead];
    if (subject.info.classes > 2 && is_next >= others && others >= kFewestAstray && is_ahead >= 0.9 * others)
      return finding.off_by(kFault, fmt::format("{:.0f} of {:.0f} targets are the symbol {} places on instead of the next one",
                                                is_ahead, is_next + others, ahead));
  }
}

}  // namespace ablate
