// State tracking: parity, modular arithmetic and the word problems of groups (S5, A5, Z60), learned on short words and tested
// on long words. The state to remember is small, and every symbol changes it.
#include <array>
#include <stdexcept>

#include "ablate/examples.h"
#include "ablate/task.h"
#include "languages.h"
#include "words.h"

namespace {

using ablate::Split;
using ablate::formal::Lengths;

constexpr ablate::Parameter parameters[] = {
    ablate::text("kind", "\"parity\"", "a5|modular-arithmetic|parity|s5|z60",
                 "parity: of bits; modular-arithmetic: numbers with + - *; s5, a5: products of all or of even permutations of "
                 "five; z60: sums modulo 60"),
    ablate::text(
        "asked", "\"usual\"", "every|last|usual",
        "every: predict the value of every prefix; last: only the value of the whole word; usual: every for groups, else last"),
    ablate::when("kind = modular-arithmetic", ablate::integer("modulus", "5", {2, 64}, "modulus; numbers are below it")),
    ablate::integer("shortest", "3", {1, 65536}, "shortest training word; all lengths up to longest are equally likely",
                    "symbols"),
    ablate::integer("longest", "40", {1, 65536}, "longest training word", "symbols"),
    ablate::integer("test_shortest", "40", {1, 65536}, "shortest test word", "symbols"),
    ablate::integer("test_longest", "256", {1, 65536}, "longest test word", "symbols"),
    ablate::text("dev_lengths", "\"train\"", "test|train",
                 "lengths of dev words: the range of train, or the range of test (published)"),
    ablate::integer("train", "100000", {1, 1e9}, "words to train on", "examples"),
    ablate::integer("dev", "2000", {1, 1e9}, "words that select the best weights", "examples"),
    ablate::integer("test", "4000", {1, 1e9}, "words to report on", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

constexpr const char* kFewShort = "all lengths are equally likely, as published, and few of the shortest words exist";
constexpr ablate::Exemption exemptions[] = {
    {"no duplicates", "train, dev", kFewShort, 0.5, "kind = parity"},
    {"no duplicates", "train, dev", kFewShort, 0.5, "kind = modular-arithmetic"},
};

class Formal final : public ablate::GeneratedRows {
 public:
  explicit Formal(const ablate::TaskContext& context)
      : GeneratedRows(context.parameters),
        about_(ablate::formal::language_of(context.parameters.text("kind"))),
        language_(about_.make(context.parameters.integer("modulus"))),
        every_(context.parameters.text("asked") == "usual" ? about_.every : context.parameters.text("asked") == "every"),
        words_(*language_, all_lengths_of(context.parameters), seed()) {}

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "symbol", .vocabulary = language_->vocabulary()}},
            .length = std::max(words_.of(Split::kTrain).longest, words_.of(Split::kTest).longest),
            .train_length = words_.of(Split::kTrain).longest,
            .classes = language_->values(),
            .objective = ablate::Objective::kPositions,
            .causal = true,
            .slices = {"length"}};
  }
  std::string digest() const override {
    auto text = std::string("formal 1 ") + about_.name + (every_ ? " every" : " last");
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest})
      text += " " + std::to_string(size(split)) + " of " + std::to_string(words_.of(split).shortest) + ".." +
              std::to_string(words_.of(split).longest);
    return ablate::in_words(text, language_->values(), seed());
  }

 private:
  /// Returns the part of a range of lengths for which the language has words.
  Lengths lengths_of(const ablate::Values& values, const std::string& prefix) const {
    const auto shortest = values.integer((prefix + "shortest").c_str()), longest = values.integer((prefix + "longest").c_str()),
               step = language_->step();
    const Lengths lengths{(shortest + step - 1) / step * step, longest / step * step};
    if (lengths.shortest <= lengths.longest) return lengths;
    const auto least = prefix + "shortest", most = prefix + "longest";
    const auto least_text = least + " = " + std::to_string(shortest), most_text = most + " = " + std::to_string(longest);
    throw std::invalid_argument((is_default(most, longest) ? least_text + ", expected at most " + most_text
                                                           : most_text + ", expected at least " + least_text) +
                                (step == 2 ? ", with an even number between them, because a sign follows each number" : ""));
  }

  /// True if a length has its default value. Then the error asks for a change of the other length.
  static bool is_default(const std::string& name, std::int64_t value) {
    return std::ranges::any_of(parameters, [&](const ablate::Parameter& one) {
      return one.name == name && one.default_value == std::to_string(value);
    });
  }

  std::array<Lengths, 3> all_lengths_of(const ablate::Values& values) const {
    const auto train = lengths_of(values, ""), test = lengths_of(values, "test_");
    return {train, values.text("dev_lengths") == "test" ? test : train, test};
  }

  ablate::Row make(Split split, std::int64_t index) const override {
    auto random = random_of(split, index);
    auto word = words_.draw(split, random);
    if (!every_) std::fill(word.targets.begin(), word.targets.end() - 1, -1);
    return word;
  }
  std::int64_t slice_of(std::int64_t length) const override { return words_.slice_of(length); }
  std::string symbol(std::int64_t id) const override { return language_->symbol(id); }

  const ablate::formal::LanguageInfo& about_;
  std::unique_ptr<ablate::formal::Language> language_;
  bool every_;
  ablate::formal::Words words_;
};

}  // namespace

ABLATE_TASK(Formal,
            {.id = "formal",
             .version = "1.0.0",
             .summary = "state tracking, trained short and tested long: parity, modular arithmetic, S5, A5, Z60",
             .paper = "Grazzi et al. 2024, arXiv 2411.12537, section 5; Merrill et al. 2024, arXiv 2404.08819, section 5",
             .parameters = parameters,
             .exemptions = exemptions})
