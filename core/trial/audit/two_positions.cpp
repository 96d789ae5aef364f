// Labels that two positions predict together: by their contents, their remainders, their sizes, or their order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/trial/audit/features.h"
#include "core/trial/audit/looks.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr std::size_t kMostPlaces = 384, kMostTried = 1024;
constexpr std::uint64_t kAbsent = 16, kCodes = 17;
constexpr Allowed kBoth{0.35, "share of the targets that the better of the two positions misses, beyond 4 standard errors"};

enum class View { kRemainders, kSizes, kOrder };
constexpr View kViews[] = {View::kRemainders, View::kSizes, View::kOrder};
constexpr const char* kViewNames[] = {"", "the sizes of ", "the order of "};

/// One position of a sequence's field. Reals are read as one of 16 ranges.
struct Place {
  std::size_t part, at;
  std::uint64_t vocabulary;
};

std::vector<Place> places_of(const TaskInfo& info, const Symbols& symbols) {
  const auto length = static_cast<std::size_t>(info.length), most = std::max<std::size_t>(kMostPlaces / symbols.parts(), 2);
  std::vector<Place> all;
  for (std::size_t part = 0; part < symbols.parts(); ++part)
    for (std::size_t at = 0; at < length; ++at)
      if (length <= most || at < most / 2 || at >= length - most / 2)
        all.push_back({part, at, static_cast<std::uint64_t>(info.fields[part % info.fields.size()].vocabulary)});
  return all;
}

/// Reads the content of one position, or the order of two positions, as one of a few codes.
class Reader {
 public:
  Reader(const TaskInfo& info, const Symbols& symbols) : info_(info), symbols_(symbols) {}

  std::uint64_t operator()(const Example& example, const Place& place, View view) const {
    if (!symbols_.present(example, place.part, place.at)) return kAbsent;
    const auto symbol = symbols_(example, place.part, place.at);
    if (place.vocabulary <= kAbsent) return symbol % kAbsent;
    return view == View::kSizes ? symbol * kAbsent / place.vocabulary
                                : symbol % std::min(static_cast<std::uint64_t>(info_.classes), kAbsent);
  }
  std::uint64_t order(const Example& example, const Place& a, const Place& b) const {
    if (!symbols_.present(example, a.part, a.at) || !symbols_.present(example, b.part, b.at)) return 3;
    const auto x = symbols_(example, a.part, a.at), y = symbols_(example, b.part, b.at);
    return x < y ? 0 : x == y ? 1 : 2;
  }

 private:
  const TaskInfo& info_;
  const Symbols& symbols_;
};

struct TwoPlaces {
  Place a, b;
  View view;
};

/// Returns the two positions whose table, made on two of every four examples, is right most often on the other two.
TwoPlaces best_two(const Reader& read, const std::vector<Place>& places, std::size_t classes,
                   std::span<const Example* const> train) {
  std::array<std::vector<std::vector<std::uint64_t>>, 2> codes;
  for (const auto view : {View::kRemainders, View::kSizes})
    for (const auto& place : places) {
      auto& own = codes[static_cast<std::size_t>(view)].emplace_back();
      for (const auto* example : train) own.push_back(read(*example, place, view));
    }
  std::vector<int> counts(kCodes * kCodes * classes);
  std::vector<std::size_t> cells(train.size());
  std::vector<std::int64_t> answers(kCodes * kCodes);
  TwoPlaces best{places[0], places[1], View::kOrder};
  int most = -1;
  for (std::size_t a = 0; a < places.size(); ++a)
    for (auto b = a + 1; b < places.size(); ++b)
      for (const auto view : kViews) {
        const auto& coded = codes[view == View::kSizes ? 1 : 0];
        for (std::size_t i = 0; i < train.size(); ++i) {
          cells[i] = view == View::kOrder ? read.order(*train[i], places[a], places[b]) : coded[a][i] * kCodes + coded[b][i];
          answers[cells[i]] = -1;
        }
        int met = 0;
        for (const bool is_made : {true, false})
          for (std::size_t i = 0; i < train.size(); ++i) {
            const auto label = train[i]->targets.front();
            auto& answer = answers[cells[i]];
            if ((i % 4 < 2) != is_made || label < 0) continue;
            auto* const own = &counts[cells[i] * classes];
            if (!is_made)
              met += answer == label ? 1 : 0;
            else if (const auto now = ++own[label]; answer < 0 || now > own[answer])
              answer = label;
          }
        for (const auto cell : cells) std::fill_n(&counts[cell * classes], classes, 0);
        if (met > most) most = met, best = {places[a], places[b], view};
      }
  return best;
}

}  // namespace

/// Judges the gain of the pair over the better one of its positions. The finding "label at a position" judges single positions.
void label_at_two_positions(const SampledTask& subject, Splits on, Finding& finding) {
  const auto& info = subject.info;
  const auto& examples = subject.sample(Split::kTrain).examples;
  const Symbols symbols(info, examples, kAbsent);
  const Reader read(info, symbols);
  const auto places = places_of(info, symbols);
  if (places.size() < 2) return finding.leave("there is one position");
  const auto train = some_of(examples, examples.size());
  const auto best = best_two(read, places, static_cast<std::size_t>(info.classes), some_of(examples, kMostTried));
  const auto name_of = [&](const Place& place) {
    return fmt::format("{} at {}{}", info.fields[place.part % info.fields.size()].name, place.at,
                       place.part < info.fields.size() ? "" : " of sequence 1");
  };
  const Feature both{kViewNames[static_cast<std::size_t>(best.view)] + name_of(best.a) + " and " + name_of(best.b),
                     [&](const Example& example, std::size_t) {
                       return static_cast<double>(best.view == View::kOrder ? read.order(example, best.a, best.b)
                                                                            : read(example, best.a, best.view) * kCodes +
                                                                                  read(example, best.b, best.view));
                     }};
  const LabelTable of_both(both, train);
  std::vector<LabelTable> of_one;
  for (const auto& place : {best.a, best.b})
    for (const auto view : {View::kRemainders, View::kSizes})
      of_one.emplace_back(Feature{"", [=, &read](const Example& example,
                                                 std::size_t) { return static_cast<double>(read(example, place, view)); }},
                          train);
  for (const auto& [split, name] : on) {
    const auto& sample = subject.sample(split).examples;
    const auto judged = some_of(sample, sample.size());
    const auto score = score_of(std::cref(of_both), judged);
    double single = constant_share(judged);
    for (const auto& table : of_one) single = std::max(single, score_of(std::cref(table), judged).accuracy());
    const double left = 1 - single;
    if (left <= 0) continue;  // "label at a position" or "more than one answer" reports this case
    const double noise = kStandardErrors * score.standard_error(single + kBoth.error * left);
    const auto text = fmt::format("{} together predict {:.3f} of the targets of {}, each alone at most {:.3f}", both.name,
                                  score.accuracy(), name, single);
    finding.off_by(std::max(0.0, (score.accuracy() - noise - single) / left), text, kBoth);
    if (finding.error() <= 0) finding.say(text);
  }
}

}  // namespace ablate
