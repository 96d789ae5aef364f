// Checks that another data_seed changes the digest and, if the data are generated, the examples of each split.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/contents.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr Allowed kSomeKept{
    0.1, "if one split is drawn anew, all are, except a few fixed examples and examples drawn again by chance"},
    kMoreShared{0.01, "with this data_seed, the two splits share no fewer examples"};

using Hashes = std::unordered_set<std::size_t>;

Hashes shown_in(std::span<const Content> contents) {
  Hashes all;
  for (const auto& content : contents) all.insert(content.shown);
  return all;
}

double share_in(const Hashes& known, std::span<const Content> contents, std::size_t Content::*what) {
  const auto found = std::ranges::count_if(contents, [&](const Content& content) { return known.count(content.*what) > 0; });
  return contents.empty() ? 0 : static_cast<double>(found) / static_cast<double>(contents.size());
}

/// Returns a split that the other seed draws anew: most of its examples under that seed are in no split under this seed.
/// Returns null if there is none.
const NamedSplit* drawn_anew(const TaskSubject& subject) {
  Hashes seen;
  for (const auto& named : kSplits) seen.merge(shown_in(subject.contents(named.split)));
  for (const auto& named : kSplits)
    if (share_in(seen, subject.other_contents(named.split), &Content::shown) < 0.5) return &named;
  return nullptr;
}

/// Returns a bound for the share of redrawn examples that a split contains by chance: twice the share of repeated examples,
/// plus four standard errors. To find the share of repeated examples, looks for every second example among the rest.
double drawn_again(std::span<const Content> contents, std::size_t asked) {
  Hashes first;
  double twice = 0, counted = 0;
  for (std::size_t i = 0; i < contents.size(); i += 2) first.insert(contents[i].with_targets);
  for (std::size_t i = 1; i < contents.size(); i += 2) ++counted, twice += first.count(contents[i].with_targets) > 0 ? 1 : 0;
  const double p = std::min(2 * (twice + 1) / (counted + 2), 1.0);
  return p + kStandardErrors * std::sqrt(p * (1 - p) / static_cast<double>(std::max<std::size_t>(asked, 1)));
}

/// True if a split may hold nearly all possible examples, so that another seed must draw the same examples. Criterion: the
/// logarithm of the number of different examples in the split is at least half of the summed entropies of all positions.
bool may_be_all(const TaskSubject& subject, Split split) {
  const auto& examples = subject.sample(split).examples;
  const auto& contents = subject.contents(split);
  const Symbols symbols(subject.info, examples, 16);
  double nats = 0;
  for (std::size_t part = 0; part < symbols.parts(); ++part)
    for (std::size_t at = 0; at < examples.front().present.front().size(); ++at) {
      std::map<std::uint64_t, double> counts;
      for (const auto& example : examples)
        ++counts[symbols.present(example, part, at) ? symbols(example, part, at) : ~std::uint64_t{0}];
      const auto all = static_cast<double>(examples.size());
      for (const auto& [symbol, count] : counts) nats -= count / all * std::log(count / all);
    }
  const double share = static_cast<double>(shown_in(contents).size()) / static_cast<double>(contents.size());
  return std::log(share * static_cast<double>(subject.sample(split).size)) >= nats / 2;
}

/// Checks, for generated data, the share of a split that another seed leaves unchanged although it redraws another split.
void look_at_kept(const TaskSubject& subject, const NamedSplit& on, Finding& finding) {
  const auto* const anew = subject.files.empty() ? drawn_anew(subject) : nullptr;
  if (anew == nullptr) return;
  const auto &own = subject.contents(on.split), &others = subject.other_contents(on.split);
  Hashes asked;
  for (const auto& content : own) asked.insert(content.with_targets);
  const double kept = share_in(asked, others, &Content::with_targets),
               off = std::max(0.0, kept - drawn_again(own, others.size()));
  if (off > kSomeKept.error && may_be_all(subject, on.split))
    return finding.say(
        fmt::format("{:.2f} of them stay the same with another data_seed, but these may be all possible examples", kept));
  finding.off_by(
      off,
      fmt::format("{:.3f} of the examples of {} stay the same with another data_seed, but those of {} are drawn anew", kept,
                  on.name, anew->name),
      kSomeKept);
}

/// Checks that two splits of `other` share no more examples than the same splits of this task. They share more if, for example,
/// the seed draws one split anew from the examples of the other split, which stays unchanged.
void look_at_shared(const TaskSubject& subject, const NamedSplit& on, const NamedSplit& before, Finding& finding) {
  const auto &others = subject.other_contents(on.split), &others_before = subject.other_contents(before.split);
  const auto first = [&](Split split, std::size_t most) {
    const std::span all(subject.contents(split));
    return all.first(std::min(all.size(), most));
  };
  const double shared = share_in(shown_in(others_before), others, &Content::shown);
  const double usual =
      share_in(shown_in(first(before.split, others_before.size())), first(on.split, others.size()), &Content::shown);
  // Both shares may come from samples. One added hit and one added miss keep the standard error above 0.
  const auto all = static_cast<double>(others.size());
  const double p = (std::max(shared, usual) * all + 1) / (all + 2), noise = kStandardErrors * std::sqrt(2 * p * (1 - p) / all);
  if (shared > usual)
    finding.off_by(std::max(0.0, shared - usual - noise),
                   fmt::format("with another data_seed {:.3f} of {} are also in {}, with this data_seed {:.3f}", shared,
                               on.name, before.name, usual),
                   kMoreShared);
}

bool is_as_before(const TaskSubject& subject) {
  const auto same_beginning = [&](const NamedSplit& named) {
    const std::span own(subject.contents(named.split)), others(subject.other_contents(named.split));
    return own.size() >= others.size() && std::ranges::equal(own.first(others.size()), others);
  };
  if (!std::ranges::all_of(kSplits, same_beginning)) return false;
  const auto info = subject.other->info();
  return text_of(info) == text_of(subject.info) &&
         Contents(*subject.other, info).others(Contents(*subject.task, subject.info)).empty();
}

}  // namespace

void task_digest_of_seed(const TaskSubject& subject, Splits, Finding& finding) {
  const bool same = subject.other->digest() == subject.task->digest();
  if (subject.seed == SeedPromise::kOther) {
    if (same) return finding.off_by(kFault, "the digest is the same");
    if (is_as_before(subject)) finding.off_by(kFault, "the digest changes, but the examples stay the same");
  } else if (same && !is_as_before(subject)) {
    finding.off_by(kFault, "the digest stays the same, but the examples change");
  }
}

void task_other_seed(const TaskSubject& subject, Splits on, Finding& finding) {
  look_at_kept(subject, on.front(), finding);
  for (const auto& before : kSplits) {
    if (before.split == on.front().split) break;
    look_at_shared(subject, on.front(), before, finding);
  }
}

}  // namespace ablate
