// The six tasks of mechanistic architecture design (Poli et al. 2024): small, generated from a seed, each for one ability that
// a language model needs.
#include "ablate/examples.h"
#include "ablate/task.h"
#include "kinds.h"

namespace {

using ablate::Split;

constexpr ablate::Parameter parameters[] = {
    ablate::text("kind", "\"in-context-recall\"",
                 "compression|fuzzy-recall|in-context-recall|memorization|noisy-recall|selective-copying",
                 "one of the six tasks; compression decodes all targets from one vector, the others answer in place"),
    ablate::text("protocol", "\"answers\"", "answers|published",
                 "answers: only answers are targets, in all splits; published: recalls train on every next token, fuzzy recall "
                 "tests the longest keys, compression also counts the one token that is always the same, each blank of copying "
                 "precedes a random token; accuracy is over targets in both, in mad-lab a mean over classes"),
    ablate::integer("vocabulary", "0", {0, 65536}, "ids; 0: as published, 16, or 32 with noise, or 256 to memorise"),
    ablate::integer("length", "0", {0, 65536}, "length of every example; 0: as published, 32, 128 for recalls, 256 for copying",
                    "tokens"),
    ablate::when("kind = noisy-recall", ablate::real("noise", "0.2", {0, 0.99}, "share of noise pairs")),
    ablate::when("kind = selective-copying", ablate::integer("copied", "16", {1, 4096}, "tokens among the blanks", "tokens")),
    ablate::integer("train", "0", {0, 1e9}, "examples to train on; 0: as published, 12,800, or 256 to memorise", "examples"),
    ablate::integer("dev", "1280", {1, 1e9}, "examples that select the best weights; the published code has none", "examples"),
    ablate::integer("test", "1280", {1, 1e9}, "examples to report on", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

constexpr ablate::Exemption exemptions[] = {
    {"one rule", "",
     "as published: recalls train on every next token, dev and test ask for answers (mad-lab, data/instances.py)", 1,
     "protocol = published"},
};

class Mad final : public ablate::GeneratedRows {
 public:
  explicit Mad(const ablate::TaskContext& context)
      : GeneratedRows(context.parameters, ablate::mad::kind_of(context.parameters.text("kind")).train),
        about_(ablate::mad::kind_of(context.parameters.text("kind"))),
        settings_{.vocabulary = or_usual(context.parameters.integer("vocabulary"), about_.vocabulary),
                  .length = or_usual(context.parameters.integer("length"), about_.length),
                  .noise = context.parameters.real("noise"),
                  .copied = context.parameters.integer("copied"),
                  .published = context.parameters.text("protocol") == "published",
                  .seed = seed()},
        kind_(about_.make(settings_)) {
    for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) make(split, 0);
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "token", .vocabulary = settings_.vocabulary}},
            .length = settings_.length,
            .classes = settings_.vocabulary,
            .objective = about_.decoded ? ablate::Objective::kDecoded : ablate::Objective::kPositions,
            .causal = true};
  }
  std::string digest() const override {
    // The version is 2 for the published protocol, because version 1 did not draw the blanks of selective copying as published.
    return ablate::in_words("mad", settings_.published ? 2 : 1, about_.name, settings_.published ? "published" : "answers",
                            settings_.vocabulary, settings_.length, settings_.copied, sizes(), settings_.noise, seed());
  }

 private:
  ablate::Row make(Split split, std::int64_t index) const override {
    auto random = random_of(split, index);
    return ablate::draw_until([&] { return kind_->draw(split == Split::kTrain, random); },
                              [&](const ablate::Row& row) { return ablate::belongs_to(split, ablate::short_hash(row.ids)); },
                              [&] { return ablate::too_few_rows(settings_.length, settings_.vocabulary); });
  }

  const ablate::mad::KindInfo& about_;
  ablate::mad::Settings settings_;
  std::unique_ptr<ablate::mad::Kind> kind_;
};

}  // namespace

ABLATE_TASK(Mad, {.id = "mad",
                  .version = "1.1.0",
                  .summary = "the six tasks of mechanistic architecture design: recall, copying, memorization, compression",
                  .paper = "Poli et al. 2024, arXiv 2403.17844, section 3",
                  .parameters = parameters,
                  .exemptions = exemptions})
