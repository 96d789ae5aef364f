// Pairs of documents, byte by byte: does one cite the other? (Retrieval of the Long Range Arena.)
#include <array>
#include <stdexcept>

#include "ablate/data_files.h"
#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/task.h"
#include "pairs.h"

namespace {

using namespace ablate::retrieval;
namespace fs = std::filesystem;

/// Used by the parameter's help and by errors.
constexpr const char* kExpected =
    "a folder of new_aan_pairs.{train,eval,test}.tsv (no header; label, id1, id2, text1, text2, separated by tabs), plain or "
    "gzipped: the folder tsv_data of https://storage.googleapis.com/long-range-arena/lra_release.gz, unpacked by tar xzf, or "
    "what tools/make-retrieval-pairs writes";

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"aan\"", "", kExpected),
    ablate::integer("length", "4000", {1, 1048576}, "first bytes of each document", "bytes"),
};

constexpr std::int64_t kBytes = 256;
constexpr const char* kNames[] = {"new_aan_pairs.train.tsv", "new_aan_pairs.eval.tsv", "new_aan_pairs.test.tsv"};  // by split

std::vector<fs::path> find_files(const std::string& data) { return ablate::find_files("retrieval", data, kExpected, kNames); }

class Retrieval final : public ablate::Task {
 public:
  explicit Retrieval(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")), length_(static_cast<std::size_t>(context.parameters.integer("length"))) {}

  ablate::TaskInfo info() override {
    find_files(data_);  // reports missing data before anything is loaded
    return {.fields = {{.name = "byte", .vocabulary = kBytes + 1}},
            .sequences = 2,
            .length = static_cast<std::int64_t>(length_),
            .classes = 2};
  }

  std::vector<fs::path> files() override { return find_files(data_); }

  void load() override {
    const auto files = find_files(data_);
    for (std::size_t split = 0; split < files.size(); ++split) pairs_[split] = read_pairs(files[split], length_, texts_);
  }

  std::string digest() const override {
    ablate::Digest digest;
    for (const auto& pairs : pairs_) {
      digest.add(std::uint64_t{pairs.size()});
      for (const auto& pair : pairs) {
        digest.add(std::uint64_t{pair.cites});
        for (const auto* text : pair.texts) digest.add_column(*text);
      }
    }
    return digest.hex();
  }

  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(pairs_[static_cast<std::size_t>(split)].size());
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto& pair = pair_at(split, indices[row]);
      for (std::size_t sequence = 0; sequence < 2; ++sequence) {
        const auto& text = *pair.texts[sequence];
        for (std::size_t i = 0; i < text.size(); ++i)
          batch.ids[sequence][row * length_ + i] = 1 + static_cast<unsigned char>(text[i]);
        ablate::end_row(batch, row, text.size(), sequence);
      }
      batch.targets[row] = pair.cites ? 1 : 0;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    constexpr std::size_t kShown = 200;
    const auto& pair = pair_at(split, index);
    std::string text = pair.cites ? "label 1, one cites the other\n" : "label 0, neither cites the other\n";
    for (std::size_t i = 0; i < 2; ++i) text += pair.ids[i] + ": " + pair.texts[i]->substr(0, kShown) + "\n";
    return text;
  }

 private:
  const Pair& pair_at(ablate::Split split, std::int64_t index) const {
    return pairs_[static_cast<std::size_t>(split)][ablate::place_of(index, size(split))];
  }

  std::string data_;
  std::size_t length_;
  Texts texts_;
  std::array<std::vector<Pair>, 3> pairs_;  ///< train, dev, test
};

}  // namespace

ABLATE_TASK(Retrieval, {.id = "retrieval",
                        .version = "1.0.0",
                        .summary = "pairs of documents as sequences of bytes: does one cite the other?",
                        .paper = "Tay et al. 2021, arXiv 2011.04006, section 2.2.3",
                        .parameters = parameters})
