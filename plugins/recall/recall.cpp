// Multi-query associative recall (Arora et al. 2023, section 4): pairs of a key and its value, then keys that ask for their
// values. Keys have no meaning outside their example, so only the model's memory counts.
#include "ablate/examples.h"
#include "ablate/task.h"
#include "lists.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("length", "64", {4, 65536}, "every sequence has this length", "tokens"),
    ablate::text("pairs", "\"4\"", "", "pairs of key and value in an example; several numbers, \"2,4,8\", take turns"),
    ablate::integer("vocabulary", "8192", {4, 1048576},
                    "ids: 0 is filler, the rest of the lower half are keys, the upper half values"),
    ablate::integer("train", "100000", {1, 1e9}, "examples of the training split", "examples"),
    ablate::integer("dev", "3000", {1, 1e9}, "examples of the dev split", "examples"),
    ablate::integer("test", "3000", {1, 1e9}, "examples of the test split", "examples"),
    ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set"),
};

class Recall final : public ablate::GeneratedTask {
 public:
  explicit Recall(const ablate::TaskContext& context)
      : GeneratedTask(context.parameters),
        length_(context.parameters.integer("length")),
        vocabulary_(context.parameters.integer("vocabulary")),
        lists_(length_, vocabulary_, context.parameters.text("pairs")) {}

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "token", .vocabulary = vocabulary_}},
            .length = length_,
            .classes = vocabulary_,
            .objective = ablate::Objective::kPositions,
            .causal = true,
            .slices = {"pairs"}};
  }
  std::string digest() const override {
    auto text = ablate::in_words("recall 1", length_, vocabulary_, seed(), sizes());
    for (const auto pairs : lists_.pairs()) text += "," + std::to_string(pairs);
    return text;
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto example = make(split, indices[row]);
      const auto pairs = example.size(), first = row * static_cast<std::size_t>(length_);
      batch.slices[row] = static_cast<std::int64_t>(pairs);
      for (std::size_t i = 0; i < pairs; ++i) {
        const auto& [key, value, place] = example[i];
        batch.ids[0][first + 2 * i] = key;
        batch.ids[0][first + 2 * i + 1] = value;
        batch.ids[0][first + place] = key;
        batch.targets[first + place] = value;
      }
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    std::string pairs, queries;
    for (const auto& [key, value, place] : make(split, index)) {
      pairs += " " + std::to_string(key) + ">" + std::to_string(value);
      queries += " " + std::to_string(key) + "@" + std::to_string(place);
    }
    return "pairs" + pairs + ", queries" + queries;
  }

 private:
  std::vector<ablate::recall::Pair> make(ablate::Split split, std::int64_t index) const {
    auto random = random_of(split, index);
    return lists_.draw(split, static_cast<std::size_t>(index), random);
  }

  std::int64_t length_, vocabulary_;
  ablate::recall::Lists lists_;
};

}  // namespace

ABLATE_TASK(Recall, {.id = "recall",
                     .version = "1.0.0",
                     .summary = "multi-query associative recall (MQAR): each key asks for its value",
                     .paper = "Arora et al. 2023, Zoology, arXiv 2312.04927, section 4",
                     .parameters = parameters})
