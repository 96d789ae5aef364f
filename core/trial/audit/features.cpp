#include "core/trial/audit/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr std::size_t kFromTheEnd = 64;
constexpr std::int64_t kManyIds = 64;  // with more ids, a table would have only an example or two for each id

/// Reads one number at a position: an id or a real.
using Read = std::function<double(const Example& example, std::size_t position)>;

struct Column {
  std::string name;
  std::size_t part, sequence;
  bool is_id;
  std::int64_t vocabulary;
  Read read;
};

std::vector<Column> columns(const TaskInfo& info) {
  std::vector<Column> all;
  for (std::size_t sequence = 0; sequence < static_cast<std::size_t>(info.sequences); ++sequence)
    for (std::size_t field = 0; field < info.fields.size(); ++field) {
      const auto& about = info.fields[field];
      const auto part = sequence * info.fields.size() + field;
      const auto name = info.sequences == 2 ? fmt::format("{} of sequence {}", about.name, sequence) : about.name;
      if (about.vocabulary > 0)
        all.push_back({name, part, sequence, true, about.vocabulary,
                       [part](const Example& example, std::size_t at) { return static_cast<double>(example.ids[part][at]); }});
      for (std::size_t number = 0; number < static_cast<std::size_t>(about.reals); ++number)
        all.push_back({about.reals > 1 ? fmt::format("{}[{}]", name, number) : name, part, sequence, false, 0,
                       [part, number, numbers = static_cast<std::size_t>(about.reals)](const Example& example, std::size_t at) {
                         return static_cast<double>(example.reals[part][at * numbers + number]);
                       }});
    }
  return all;
}

/// Adds a feature for a value. Tables use an id as a category, and split any other value into ranges. An id of a large
/// vocabulary yields two more features: its size, and its remainder modulo the number of classes.
void add_views(std::vector<Feature>& to, const Column& column, const std::string& where, std::int64_t classes,
               const std::function<double(const Example&, std::size_t)>& value) {
  to.push_back({column.name + where, value, !column.is_id});
  if (!column.is_id || column.vocabulary <= kManyIds) return;
  to.push_back({"the size of " + column.name + where, value, true});
  to.push_back(
      {fmt::format("{}{} modulo {}", column.name, where, classes), [value, classes](const Example& example, std::size_t at) {
         const auto found = value(example, at);
         return found < 0 ? found : static_cast<double>(static_cast<std::int64_t>(found) % classes);
       }});
}

/// Returns ids that may mark a place: the rarest ids that at least half of the examples contain.
/// @param are_marks true: only ids that at least nine of ten examples contain, at most twice on average
std::vector<std::int64_t> rare_ids(const Column& column, const std::vector<Example>& examples, bool are_marks = false) {
  constexpr std::size_t kLookedAt = 200, kMarkers = 16, kMarks = 8;
  struct Count {
    std::int64_t all = 0;
    std::size_t examples = 0, last = 0;
  };
  std::map<std::int64_t, Count> counts;
  const auto known = std::min(examples.size(), kLookedAt);
  for (std::size_t i = 0; i < known; ++i)
    for (std::size_t at = 0; at < examples[i].present[column.sequence].size(); ++at) {
      if (examples[i].present[column.sequence][at] == 0) continue;
      auto& count = counts[examples[i].ids[column.part][at]];
      ++count.all;
      if (std::exchange(count.last, i + 1) != i + 1) ++count.examples;
    }
  std::vector<std::pair<std::int64_t, std::int64_t>> seldom;  // count and id
  for (const auto& [id, count] : counts)
    if (are_marks ? 10 * count.examples >= 9 * known && count.all <= 2 * static_cast<std::int64_t>(known)
                  : 2 * count.examples >= known)
      seldom.emplace_back(count.all, id);
  std::sort(seldom.begin(), seldom.end());
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < std::min(seldom.size(), are_marks ? kMarks : kMarkers); ++i) ids.push_back(seldom[i].second);
  return ids;
}

/// Adds three features for a whole number: the number as a category, its size, and its remainder modulo the number of classes.
void add_whole(std::vector<Feature>& to, const std::string& name, std::int64_t classes,
               const std::function<double(const Example&, std::size_t)>& value) {
  to.push_back({name, value});
  to.push_back({"the size of " + name, value, true});
  to.push_back({fmt::format("{} modulo {}", name, classes), [value, classes](const Example& example, std::size_t at) {
                  const auto found = value(example, at);
                  if (found == kNothing) return kNothing;
                  return static_cast<double>((static_cast<std::int64_t>(found) % classes + classes) % classes);
                }});
}

/// Returns the place where an id occurs for the first time, or, if `times` is 2, for the second time.
double place_of(const Example& example, const Column& column, std::int64_t id, int times = 1) {
  const auto& present = example.present[column.sequence];
  for (std::size_t at = 0; at < present.size(); ++at)
    if (present[at] != 0 && example.ids[column.part][at] == id && --times == 0) return static_cast<double>(at);
  return kNothing;
}

double there(const Example& example, std::size_t sequence) {
  return static_cast<double>(
      std::count_if(example.present[sequence].begin(), example.present[sequence].end(), [](auto one) { return one != 0; }));
}

}  // namespace

std::vector<Feature> position_features(const TaskInfo& info, const std::vector<Example>& examples) {
  std::vector<Feature> all;
  const auto length = static_cast<std::size_t>(info.length);
  for (const auto& column : columns(info)) {
    const auto add = [&](const std::string& where, const std::function<double(const Example&, std::size_t)>& value) {
      add_views(all, column, where, info.classes, value);
    };
    if (asks_of(info.objective).in_place()) {
      add(" at the target's position", [column](const Example& example, std::size_t at) { return column.read(example, at); });
      add(" right before the target's position",
          [column](const Example& example, std::size_t at) { return at > 0 ? column.read(example, at - 1) : kNothing; });
      if (!info.causal)
        add(" right behind the target's position", [column](const Example& example, std::size_t at) {
          return at + 1 < example.targets.size() ? column.read(example, at + 1) : kNothing;
        });
      continue;
    }
    for (std::size_t position = 0; position < length; ++position)
      add(fmt::format(" at {}", position), [column, position](const Example& example, std::size_t) {
        return example.present[column.sequence][position] != 0 ? column.read(example, position) : kNothing;
      });
    for (std::size_t back = 1; back <= std::min(kFromTheEnd, length); ++back)
      add(fmt::format(" at {} from the end", back), [column, back](const Example& example, std::size_t) {
        const auto end = Symbols::end(example.present[column.sequence]);
        return back <= end ? column.read(example, end - back) : kNothing;
      });
    for (const std::size_t quarters : {1, 2, 3})
      for (const std::size_t left : {0, 1})  // the middle of 8 positions is the fourth or the fifth
        add(fmt::format(" at {} quarters of the length{}", quarters, left > 0 ? ", rounded down" : ""),
            [column, quarters, left](const Example& example, std::size_t) {
              const auto end = Symbols::end(example.present[column.sequence]);
              return end > left ? column.read(example, (end - left) * quarters / 4) : kNothing;
            });
    if (!column.is_id) continue;
    for (const auto marker : rare_ids(column, examples))
      add(fmt::format(" behind the first {}", marker), [column, marker](const Example& example, std::size_t) {
        const auto& ids = example.ids[column.part];
        const auto end = Symbols::end(example.present[column.sequence]);
        const auto at = static_cast<std::size_t>(
            std::find(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(end), marker) - ids.begin());
        return at + 1 < end ? column.read(example, at + 1) : kNothing;
      });
  }
  return all;
}

std::vector<Feature> length_features(const TaskInfo& info) {
  std::vector<Feature> all;
  const auto add = [&](const std::string& name, const std::function<double(const Example&, std::size_t)>& value) {
    add_whole(all, name, info.classes, value);
  };
  for (std::size_t sequence = 0; sequence < static_cast<std::size_t>(info.sequences); ++sequence) {
    const auto of = info.sequences == 2 ? fmt::format(" of sequence {}", sequence) : "";
    add("the length" + of, [sequence](const Example& example, std::size_t) {
      return static_cast<double>(Symbols::end(example.present[sequence]));
    });
    if (!info.holes) continue;
    add("the number present" + of, [sequence](const Example& example, std::size_t) { return there(example, sequence); });
    for (const bool last : {false, true})
      add((last ? "the place of the last hole" : "the place of the first hole") + of, [=](const Example& example, std::size_t) {
        const auto& present = example.present[sequence];
        double hole = kNothing;
        for (std::size_t at = 0; at < Symbols::end(present); ++at)
          if (present[at] == 0 && (last || hole == kNothing)) hole = static_cast<double>(at);
        return hole;
      });
  }
  if (info.sequences == 2) {
    add("the difference of the lengths",
        [](const Example& example, std::size_t) { return there(example, 0) - there(example, 1); });
    add("the sum of the lengths", [](const Example& example, std::size_t) { return there(example, 0) + there(example, 1); });
  }
  if (asks_of(info.objective).each) {
    add("the position", [](const Example&, std::size_t at) { return static_cast<double>(at); });
    add("how many follow",
        [](const Example& example, std::size_t at) { return static_cast<double>(Symbols::end(example.present[0]) - at); });
  }
  return all;
}

std::vector<Feature> mark_features(const TaskInfo& info, const std::vector<Example>& examples) {
  std::vector<Feature> all;
  if (asks_of(info.objective).each) return all;
  for (const auto& column : columns(info)) {
    if (!column.is_id) continue;
    const auto marks = rare_ids(column, examples, true);
    const auto add_distance = [&](std::int64_t a, std::int64_t b, int times) {
      add_whole(all, fmt::format("the distance from {} to {} of {}", a, b, column.name), info.classes,
                [=](const Example& example, std::size_t) {
                  const auto from = place_of(example, column, a), to = place_of(example, column, b, times);
                  return from == kNothing || to == kNothing ? kNothing : to - from;
                });
    };
    for (std::size_t i = 0; i < marks.size(); ++i) {
      add_whole(all, fmt::format("the place of {} of {}", marks[i], column.name), info.classes,
                [=, mark = marks[i]](const Example& example, std::size_t) { return place_of(example, column, mark); });
      add_distance(marks[i], marks[i], 2);
      for (auto j = i + 1; j < marks.size(); ++j) add_distance(marks[i], marks[j], 1);
    }
  }
  return all;
}

}  // namespace ablate
