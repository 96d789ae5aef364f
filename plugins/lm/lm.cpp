// A text as one stream of bytes or words. The model predicts the next token.
#include <algorithm>
#include <array>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/word_count.h"
#include "words.h"

namespace {

using namespace ablate::lm;

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"enwik8\"", "", kExpected),
    ablate::integer("bytes", "0", {0, 1e12}, "limits a single file to its first bytes; 0: all of it", "bytes"),
    ablate::integer("length", "512", {1, 1048576}, "length of a segment", "tokens"),
    ablate::text("tokens", "\"bytes\"", "bytes|words",
                 "words (WikiText and books only): tokens between white space; in WikiText a line's end is the word <eos>"),
    ablate::when(
        "tokens = words",
        ablate::integer("vocabulary", "267735", {2, 1e8},
                        "most frequent words of train, including <unk> for all others; WikiText-103 has 267735", "words")),
    ablate::when("tokens = words",
                 ablate::integer("least_count", "1", {1, 1e12},
                                 "words that occur less often in train are <unk>; WikiText-103 has already used 3")),
};

constexpr std::int64_t kBytes = 256;

class LanguageModel final : public ablate::Task, public ablate::WordCount {
 public:
  explicit LanguageModel(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        bytes_(context.parameters.integer("bytes")),
        length_(context.parameters.integer("length")),
        by_words_(context.parameters.text("tokens") == "words"),
        limits_{context.parameters.integer("vocabulary"), context.parameters.integer("least_count")},
        cache_(context.cache),
        threads_(context.threads) {}

  ablate::TaskInfo info() override {
    find();  // reports missing data before a study begins
    const auto ids = by_words_ ? limits_.vocabulary : kBytes;
    const char* const token = by_words_ ? "word" : "byte";
    return {.fields = {{.name = token, .vocabulary = ids}},
            .length = length_,
            .classes = ids,
            .objective = ablate::Objective::kPositions,
            .sampling = ablate::Sampling::kStream,
            .causal = true,
            .unit = token};
  }

  std::vector<std::filesystem::path> files() override {
    std::vector<std::filesystem::path> all;
    for (const auto& files : files_of(find())) all.insert(all.end(), files.begin(), files.end());
    return all;
  }

  void load() override {
    const auto source = find();
    text_ = read_text(source, bytes_, threads_);
    digest_ = ablate::lm::digest(text_, source.form, threads_);
    counts_words_ = !by_words_ && source.form != Form::kFile;
    if (by_words_) {
      words_ = Words(text_, limits_, digest_, source.name(), cache_, threads_);
      text_ = {};
      digest_ = ablate::Digest().add_column(digest_).add(limits_.vocabulary).add(limits_.least_count).hex();
    }
    check_length(source, {tokens(0), tokens(1), tokens(2)}, length_);
  }

  std::string digest() const override { return digest_; }
  /// The last token of a split is only a target.
  std::int64_t size(ablate::Split split) const override {
    return static_cast<std::int64_t>(tokens(static_cast<std::size_t>(split))) - 1;
  }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    const auto which = static_cast<std::size_t>(split), length = static_cast<std::size_t>(batch.length);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto first = ablate::place_of(indices[row], size(split)), left = std::min(length, tokens(which) - 1 - first);
      for (std::size_t i = 0; i < left; ++i) {
        batch.ids[0][row * length + i] = token(which, first + i);
        batch.targets[row * length + i] = token(which, first + i + 1);
      }
      ablate::end_row(batch, row, left);
      batch.starts[row] = first == 0 ? 1 : 0;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto which = static_cast<std::size_t>(split), first = ablate::place_of(index, size(split)),
               end = std::min(tokens(which), first + static_cast<std::size_t>(length_));
    std::string text = (by_words_ ? "words from " : "bytes from ") + std::to_string(index) + " on: ";
    for (auto at = first; at < end; ++at) {
      const auto id = token(which, at);
      if (by_words_)
        (text += at > first ? " " : "") += words_.word(id);
      else
        append_readable(text, static_cast<std::uint8_t>(id));
    }
    return text;
  }

  std::int64_t words(ablate::Split split, std::int64_t places) const override {
    if (!counts_words_) return 0;  // not needed if tokens are words; a single file has no published count
    return count_words(text_.part(static_cast<std::size_t>(split)).first(static_cast<std::size_t>(places) + 1), text_.lines);
  }

 private:
  Source find() const { return find_source(data_, by_words_, bytes_); }
  std::size_t tokens(std::size_t split) const { return by_words_ ? words_.size(split) : text_.part(split).size(); }
  std::uint32_t token(std::size_t split, std::size_t place) const {
    return by_words_ ? words_.id(split, place) : text_.part(split)[place];
  }

  std::string data_;
  std::int64_t bytes_, length_;
  bool by_words_;
  Limits limits_;
  std::filesystem::path cache_;
  int threads_;
  bool counts_words_ = false;
  Text text_;  ///< empty if the tokens are words
  Words words_;
  std::string digest_;
};

}  // namespace

ABLATE_TASK(LanguageModel, {.id = "lm",
                            .version = "1.1.0",
                            .summary = "a text as one stream of bytes or words: which one comes next?",
                            .paper = "Al-Rfou et al. 2019, arXiv 1808.04444, section 3 (enwik8, split by place); WikiText-103: "
                                     "Merity et al. 2017, arXiv 1609.07843; PG-19: Rae et al. 2020, arXiv 1911.05507",
                            .parameters = parameters})
