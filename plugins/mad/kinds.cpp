#include "kinds.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

namespace ablate::mad {
namespace {

using Random = std::mt19937_64;

/// Returns `size` different ids of [first, end) in random order. The order is part of the motif.
Ids motif_of(std::int64_t first, std::int64_t end, std::int64_t size, Random& random) {
  Ids ids(static_cast<std::size_t>(end - first));
  std::iota(ids.begin(), ids.end(), first);
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) std::swap(ids[i], ids[i + below(ids.size() - i, random)]);
  ids.resize(static_cast<std::size_t>(size));
  return ids;
}

/// A sequence under construction: its tokens, and for each token true if it is an answer to the tokens before it.
struct Growing {
  Ids tokens;
  std::vector<bool> answers;
  void add(const Ids& ids, bool answer) {
    tokens.insert(tokens.end(), ids.begin(), ids.end());
    answers.insert(answers.end(), ids.size(), answer);
  }
  /// Returns the row. The target of a position is the next token, if that token is an answer or `all` is true.
  Row row(bool all) const {
    Row row{tokens, Ids(tokens.size(), -1)};
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
      if (all || answers[i + 1]) row.targets[i] = tokens[i + 1];
    return row;
  }
};

/// Pairs of a key and its value, and pairs of noise. A key that occurred before asks for its value. The last key always asks.
class Recall final : public Kind {
 public:
  Recall(const Settings& settings, bool noisy)
      : settings_(settings), ids_(noisy ? settings.vocabulary / 2 : settings.vocabulary) {
    if (noisy) noise_ = static_cast<std::uint64_t>(settings.noise * 4294967296.0);
    expect(ids_ >= 4, "vocabulary", settings.vocabulary, noisy ? "at least 8, half of them noise" : "at least 4");
    expect(settings.length >= 4 && settings.length % 2 == 0, "length", settings.length, "an even number of at least 4");
  }

  Row draw(bool training, Random& random) const override {
    const auto pairs = settings_.length / 2, never_noise = one_of(0, pairs - 1, random);
    std::map<std::int64_t, std::int64_t> values;
    Growing growing;
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const bool last = pair + 1 == pairs;
      const bool is_noise = (random() >> 32) < noise_;
      if (is_noise && pair != never_noise && !last) {
        growing.add({one_of(ids_, settings_.vocabulary, random), one_of(ids_, settings_.vocabulary, random)}, false);
        continue;
      }
      auto key = one_of(0, ids_ / 2, random);
      if (last) key = std::next(values.begin(), one_of(0, std::ssize(values), random))->first;
      const auto [known, is_new] = values.try_emplace(key, 0);
      if (is_new) known->second = one_of(ids_ / 2, ids_, random);
      growing.add({key}, false);
      growing.add({known->second}, !is_new);
    }
    return growing.row(training && settings_.published);
  }

 private:
  Settings settings_;
  std::int64_t ids_;         ///< number of ids for keys and values, half each; higher ids are noise
  std::uint64_t noise_ = 0;  ///< share of noise pairs, times 2^32
};

/// Keys and values of one to three tokens. The remaining positions are in front, filled with a separate id.
class FuzzyRecall final : public Kind {
 public:
  explicit FuzzyRecall(const Settings& settings) : settings_(settings) {
    expect(settings.vocabulary >= 2 * kMost + 1, "vocabulary", settings.vocabulary, "at least 7");
    expect(settings.length >= 4 * kMost, "length", settings.length, "at least 12: two keys and values");
  }

  Row draw(bool training, Random& random) const override {
    const auto filler = settings_.vocabulary - 1, half = filler / 2;
    // In the published protocol, dev and test use only keys of the greatest length.
    const auto least = settings_.published && !training ? kMost : 1;
    std::map<Ids, Ids> values;
    Growing growing;
    const auto room = static_cast<std::size_t>(settings_.length - 2 * kMost);
    while (growing.tokens.size() + 2 * kMost <= room || values.empty()) {
      const auto key = motif_of(0, half, one_of(least, kMost + 1, random), random);
      const auto [known, is_new] = values.try_emplace(key);
      if (is_new) known->second = motif_of(half, filler, one_of(1, kMost + 1, random), random);
      growing.add(key, false);
      growing.add(known->second, !is_new);
    }
    const auto& [key, value] = *std::next(values.begin(), one_of(0, std::ssize(values), random));
    growing.add(key, false);
    growing.add(value, true);
    Growing whole;
    whole.add(Ids(static_cast<std::size_t>(settings_.length) - growing.tokens.size(), filler), false);
    whole.tokens.insert(whole.tokens.end(), growing.tokens.begin(), growing.tokens.end());
    whole.answers.insert(whole.answers.end(), growing.answers.begin(), growing.answers.end());
    return whole.row(training && settings_.published);
  }

 private:
  static constexpr std::int64_t kMost = 3;
  Settings settings_;
};

/// A map from keys to values, which all examples of all splits share. An example is a key, an id that asks for the key's value,
/// another key, and so on.
class Memorization final : public Kind {
 public:
  explicit Memorization(const Settings& settings) : settings_(settings) {
    expect(settings.vocabulary >= 5, "vocabulary", settings.vocabulary, "at least 5");
    expect(settings.length >= 2 && settings.length % 2 == 0, "length", settings.length, "an even number");
    const auto asks = settings.vocabulary - 1;
    auto random = generator(settings.seed, {0x6D6170});  // for the map only
    values_ = motif_of(asks / 2, asks, asks / 2, random);
  }

  Row draw(bool, Random& random) const override {
    Row row;
    for (std::int64_t pair = 0; pair < settings_.length / 2; ++pair) {
      const auto key = one_of(0, std::ssize(values_), random);
      row.ids.insert(row.ids.end(), {key, settings_.vocabulary - 1});
      row.targets.insert(row.targets.end(), {-1, values_[static_cast<std::size_t>(key)]});
    }
    return row;
  }

 private:
  Settings settings_;
  Ids values_;  ///< by key
};

/// Tokens and a final id. The model must decode all tokens from the vector of that id.
class Compression final : public Kind {
 public:
  explicit Compression(const Settings& settings) : settings_(settings) {
    expect(settings.vocabulary >= 3, "vocabulary", settings.vocabulary, "at least 3");
    expect(settings.length >= 2, "length", settings.length, "at least 2");
  }

  Row draw(bool, Random& random) const override {
    Row row;
    for (std::int64_t i = 0; i + 1 < settings_.length; ++i) row.ids.push_back(one_of(0, settings_.vocabulary - 1, random));
    row.ids.push_back(settings_.vocabulary - 1);
    row.targets = row.ids;
    if (!settings_.published) row.targets.back() = -1;  // the last id is the same in every example
    return row;
  }

 private:
  Settings settings_;
};

/// Tokens among blanks, then an id that asks for the tokens in order, without the blanks. The tokens' positions are uniform. In
/// the published protocol, each blank is put before a random token instead, so gaps have similar sizes and no blank is last.
class SelectiveCopying final : public Kind {
 public:
  static constexpr std::int64_t kUsualLength = 256;
  explicit SelectiveCopying(const Settings& settings) : settings_(settings) {
    expect(settings.vocabulary >= 4, "vocabulary", settings.vocabulary, "at least 4");
    const bool fits = settings.length > 2 * settings.copied;
    if (settings.length == kUsualLength)  // the default length: the study may have set only `copied`
      expect(fits, "copied", settings.copied, "less than half of length = " + std::to_string(settings.length));
    expect(fits, "length", settings.length, "more than twice copied = " + std::to_string(settings.copied));
  }

  Row draw(bool, Random& random) const override {
    const auto ask = settings_.vocabulary - 1, blank = settings_.vocabulary - 2;
    const auto ask_at = settings_.length - settings_.copied - 1;  // position of the id that asks
    const auto places = settings_.published ? places_behind_blanks(ask_at, random) : any_places(ask_at, random);
    const auto length = static_cast<std::size_t>(settings_.length);
    Row row{Ids(length, blank), Ids(length, -1)};
    row.ids[static_cast<std::size_t>(ask_at)] = ask;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto token = one_of(0, blank, random);
      row.ids[static_cast<std::size_t>(places[i])] = row.targets[static_cast<std::size_t>(ask_at) + 1 + i] = token;
    }
    return row;
  }

 private:
  Ids any_places(std::int64_t ask_at, Random& random) const {
    auto places = motif_of(0, ask_at, settings_.copied, random);
    std::sort(places.begin(), places.end());
    return places;
  }
  Ids places_behind_blanks(std::int64_t ask_at, Random& random) const {
    Ids steps(static_cast<std::size_t>(settings_.copied), 1);  // distance from the token before
    for (auto blanks = ask_at - settings_.copied; blanks > 0; --blanks)
      ++steps[static_cast<std::size_t>(one_of(0, settings_.copied, random))];
    --steps.front();
    std::partial_sum(steps.begin(), steps.end(), steps.begin());
    return steps;
  }

  Settings settings_;
};

template <class Made, auto... kArguments>
std::unique_ptr<Kind> make(const Settings& settings) {
  return std::make_unique<Made>(settings, kArguments...);
}

constexpr KindInfo kKinds[] = {
    {"compression", 16, 32, 12800, true, make<Compression>},
    {"fuzzy-recall", 16, 128, 12800, false, make<FuzzyRecall>},
    {"in-context-recall", 16, 128, 12800, false, make<Recall, false>},
    {"memorization", 256, 32, 256, false, make<Memorization>},
    {"noisy-recall", 32, 128, 12800, false, make<Recall, true>},
    {"selective-copying", 16, SelectiveCopying::kUsualLength, 12800, false, make<SelectiveCopying>},
};

}  // namespace

const KindInfo& kind_of(const std::string& name) { return *std::ranges::find(kKinds, name, &KindInfo::name); }

}  // namespace ablate::mad
