// ListOps: nested list operations on digits with a digit as answer (Nangia and Bowman 2018), at the lengths of the Long Range
// Arena.
#include <stdexcept>

#include "ablate/cached_file.h"
#include "ablate/examples.h"
#include "ablate/task.h"
#include "data_set.h"
#include "generator.h"
#include "tsv.h"

namespace {

using namespace ablate::listops;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"\"", "", kExpected),
    ablate::integer("max_length", "2000", {2, 65536},
                    "padded length; generated expressions are shorter, and expressions from files are at most this long",
                    "tokens"),
    ablate::when("data = \"\"", ablate::integer("min_length", "500", {0, 65535}, "expressions are longer than this", "tokens")),
    ablate::when("data = \"\"", ablate::integer("max_depth", "10", {2, 64}, "greatest depth of nesting; the root has depth 1")),
    ablate::when("data = \"\"",
                 ablate::integer("max_arguments", "10", {2, 64}, "most arguments of an operator; the fewest are 2")),
    ablate::when("data = \"\"", ablate::real("operator_probability", "0.25", {0.01, 0.99},
                                             "probability that a node above max_depth is an operator")),
    ablate::when("data = \"\"", ablate::integer("train", "96000", {1, 10000000}, "examples to train on", "examples")),
    ablate::when("data = \"\"",
                 ablate::integer("dev", "2000", {1, 10000000}, "examples that select the best weights", "examples")),
    ablate::when("data = \"\"", ablate::integer("test", "2000", {1, 10000000}, "examples to report on", "examples")),
    ablate::when("data = \"\"", ablate::integer("data_seed", "0", {0, 9007199254740992}, "seed of the data set")),
};

class ListOps final : public ablate::Task {
 public:
  explicit ListOps(const ablate::TaskContext& context)
      : folder_(context.parameters.text("data")),
        cache_(context.cache),
        threads_(context.threads),
        settings_{.min_length = context.parameters.integer("min_length"),
                  .max_length = context.parameters.integer("max_length"),
                  .max_depth = context.parameters.integer("max_depth"),
                  .max_arguments = context.parameters.integer("max_arguments"),
                  .operator_probability = context.parameters.real("operator_probability"),
                  .seed = static_cast<std::uint64_t>(context.parameters.integer("data_seed"))},
        wanted_{static_cast<std::uint64_t>(context.parameters.integer("train")),
                static_cast<std::uint64_t>(context.parameters.integer("dev")),
                static_cast<std::uint64_t>(context.parameters.integer("test"))} {
    if (folder_.empty() && settings_.min_length + 1 >= settings_.max_length)
      throw std::invalid_argument("min_length = " + std::to_string(settings_.min_length) +
                                  " leaves no length below max_length = " + std::to_string(settings_.max_length) +
                                  ", expected at most max_length - 2 = " + std::to_string(settings_.max_length - 2));
  }

  ablate::TaskInfo info() override {
    return {.fields = {{.name = "symbol", .vocabulary = kLastSymbol + 1}}, .length = settings_.max_length, .classes = 10};
  }

  std::vector<std::filesystem::path> files() override {
    return folder_.empty() ? std::vector<std::filesystem::path>{} : find_files(folder_);
  }

  void load() override {
    if (folder_.empty()) {
      generate_or_recall();
    } else {
      const auto files = find_files(folder_);
      data_ = {};
      for (std::size_t split = 0; split < 3; ++split) {
        const auto part = read_tsv(files[split], settings_.max_length, threads_);
        data_.sizes[split] = part.size();
        data_.examples.append(part, 0, part.size());
      }
      digest_ = ablate::listops::digest(data_);
    }
  }

  std::string digest() const override { return digest_; }
  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(data_.sizes[static_cast<std::size_t>(split)]);
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    const auto length = static_cast<std::size_t>(settings_.max_length);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto example = place(split, indices[row]);
      const auto tokens = data_.examples.length(example);
      for (std::size_t i = 0; i < tokens; ++i) batch.ids[0][row * length + i] = data_.examples.symbol(example, i);
      ablate::end_row(batch, row, tokens);
      batch.targets[row] = data_.examples.label(example);
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto example = place(split, index);
    return to_text(data_.examples.symbols(example)) + " = " + std::to_string(data_.examples.label(example));
  }

 private:
  void generate_or_recall() {
    const std::string key = to_text(settings_) + ", sizes " + std::to_string(wanted_[0]) + ' ' + std::to_string(wanted_[1]) +
                            ' ' + std::to_string(wanted_[2]);
    const auto stored = ablate::cached(cache_, "listops", key, [&] {
      return to_bytes({generate(settings_, wanted_[0] + wanted_[1] + wanted_[2], threads_), wanted_});
    });
    data_ = from_bytes(stored.content);
    digest_ = stored.digest;
  }

  /// Returns the index of a split's example among all examples. Throws std::out_of_range if there is none.
  std::size_t place(ablate::Split split, std::int64_t index) const {
    const auto own = ablate::place_of(index, size(split));
    std::uint64_t first = 0;
    for (std::size_t before = 0; before < static_cast<std::size_t>(split); ++before) first += data_.sizes[before];
    return first + own;
  }

  std::string folder_;
  std::filesystem::path cache_;
  int threads_;
  GeneratorSettings settings_;
  std::array<std::uint64_t, 3> wanted_;  ///< sizes of the splits to generate
  DataSet data_{};
  std::string digest_;
};

}  // namespace

ABLATE_TASK(ListOps, {.id = "listops",
                      .version = "1.0.0",
                      .summary = "nested MIN, MAX, MED and SM of digits: which digit comes out?",
                      .paper = "Nangia and Bowman 2018, arXiv 1804.06028; lengths of Tay et al. 2021, arXiv 2011.04006",
                      .parameters = parameters})
