// Copying of a string, of tokens among blanks, or of the token that followed an id. The model must remember the input itself.
#include "ablate/examples.h"
#include "ablate/task.h"
#include "kinds.h"

namespace {

using ablate::Split;

constexpr ablate::Parameter parameters[] = {
    ablate::text("kind", "\"copying\"", "copying|induction|selective-copying",
                 "copying: the string is repeated; induction: the token that followed an id before; selective-copying: tokens "
                 "without blanks"),
    ablate::integer("vocabulary", "16", {3, 65536}, "ids, including the ids for end, question, mark and blank"),
    ablate::integer("length", "0", {0, 65536}, "length of an example; 0: 64 for copying, 256 for the others", "tokens"),
    ablate::integer("test_length", "0", {0, 1048576},
                    "longest test length; tests use length, 2 length, 4 length, ... in turn; 0: only length", "tokens"),
    ablate::when("kind = selective-copying", ablate::integer("copied", "16", {1, 4096}, "tokens among the blanks", "tokens")),
    ablate::integer("train", "100000", {1, 1e9}, "examples to train on", "examples"),
    ablate::integer("dev", "2000", {1, 1e9}, "examples that select the best weights, with the training length", "examples"),
    ablate::integer("test", "2000", {1, 1e9}, "examples to report on", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

class Copy final : public ablate::GeneratedRows {
 public:
  explicit Copy(const ablate::TaskContext& context)
      : GeneratedRows(context.parameters),
        kind_(ablate::copy::kind_of(context.parameters.text("kind"))),
        settings_{.vocabulary = context.parameters.integer("vocabulary"), .copied = context.parameters.integer("copied")},
        length_(or_usual(context.parameters.integer("length"), kind_.length)),
        longest_(or_usual(context.parameters.integer("test_length"), length_)) {
    kind_.check(settings_, length_);
    for (auto length = length_; length < longest_; length *= 2) ++test_lengths_;
    ablate::expect(length_ << (test_lengths_ - 1) == longest_, "test_length", longest_,
                   "length = " + std::to_string(length_) + ", or 2, 4, 8, ... times that");
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) make(split, 0);
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "token", .vocabulary = settings_.vocabulary}},
            .length = longest_,
            .train_length = length_,
            .classes = settings_.vocabulary,
            .objective = ablate::Objective::kPositions,
            .causal = true,
            .slices = {"length"}};
  }
  std::string digest() const override {
    return ablate::in_words("copy 1", kind_.name, settings_.vocabulary, settings_.copied, length_, longest_, sizes(), seed());
  }

 private:
  /// Sequences of the training length are divided among the splits by their digest, so that no two splits share a sequence.
  ablate::Row make(Split split, std::int64_t index) const override {
    auto random = random_of(split, index);
    const auto length = split == Split::kTest ? length_ << (index % test_lengths_) : length_;
    return ablate::draw_until(
        [&] { return kind_.draw(settings_, length, random); },
        [&](const ablate::Row& row) { return length > length_ || ablate::belongs_to(split, ablate::short_digest(row.ids)); },
        [&] { return ablate::too_few_rows(length_, settings_.vocabulary); });
  }

  const ablate::copy::KindInfo& kind_;
  ablate::copy::Settings settings_;
  std::int64_t length_, longest_;  ///< training length, longest test length
  std::int64_t test_lengths_ = 1;
};

}  // namespace

ABLATE_TASK(Copy, {.id = "copy",
                   .version = "1.0.0",
                   .summary = "copying: of a string, of tokens among blanks, of the token after an id (induction)",
                   .paper = "Gu and Dao 2023, Mamba, arXiv 2312.00752, section 4.1; Jelassi et al. 2024, arXiv 2402.01032",
                   .parameters = parameters})
