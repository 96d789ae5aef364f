// The bytes of a file as one stream: which byte comes next? Split by place, as enwik8 is: 90 % train, 5 % dev, 5 % test.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "ablate/digest.h"
#include "ablate/examples.h"
#include "ablate/task.h"
#include "text.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::text("data", "\"enwik8\"", "", "enwik8 (looked for in $ABLATE_DATA), or any file, plain or gzipped"),
    ablate::integer("bytes", "0", {0, 1e12}, "only the first bytes of the file; 0: all of it", "bytes"),
    ablate::integer("length", "512", {1, 1048576}, "of a segment", "bytes"),
};

constexpr std::int64_t kBytes = 256;
constexpr std::int64_t kShare = 20;  ///< dev and test are one in so many each

class LanguageModel final : public ablate::Task {
 public:
  explicit LanguageModel(const ablate::TaskContext& context)
      : data_(context.parameters.text("data")),
        bytes_(context.parameters.integer("bytes")),
        length_(context.parameters.integer("length")) {}

  ablate::TaskInfo info() override {
    ablate::lm::find_text(data_);  // missing data are told before a study begins
    return {.fields = {{.name = "byte", .vocabulary = kBytes}},
            .length = length_,
            .classes = kBytes,
            .objective = ablate::Objective::kPositions,
            .sampling = ablate::Sampling::kStream,
            .causal = true,
            .unit = "byte"};
  }

  std::vector<std::filesystem::path> files() override { return {ablate::lm::find_text(data_)}; }

  void load() override {
    const auto path = ablate::lm::find_text(data_);
    text_ = ablate::lm::read_text(path, bytes_);
    const auto all = static_cast<std::int64_t>(text_.size()), share = all / kShare;
    // The last byte of a split is a target alone.
    if (share < length_ + 1)
      throw std::runtime_error(path.string() + ": found " + std::to_string(all) + " bytes, expected at least " +
                               std::to_string(kShare * (length_ + 1)) + ": dev and test are 5 % each, and have to hold a " +
                               "segment of length = " + std::to_string(length_) + " and the byte behind it");
    ends_ = {all - 2 * share, all - share, all};
    digest_ = ablate::Digest().add(text_.data(), text_.size()).hex();
  }

  std::string digest() const override { return digest_; }
  std::int64_t size(ablate::Split split) const override { return static_cast<std::int64_t>(bytes_of(split).size()) - 1; }

  void read(ablate::Split split, std::span<const std::int64_t> indices, ablate::BatchView batch) const override {
    const auto text = bytes_of(split);
    const auto length = static_cast<std::size_t>(batch.length);
    for (std::size_t row = 0; row < indices.size(); ++row) {
      const auto first = ablate::place_of(indices[row], size(split)), left = std::min(length, text.size() - 1 - first);
      const auto from = static_cast<std::ptrdiff_t>(row * length), begin = static_cast<std::ptrdiff_t>(first);
      std::copy_n(text.begin() + begin, left, batch.ids[0].begin() + from);
      std::copy_n(text.begin() + begin + 1, left, batch.targets.begin() + from);
      ablate::end_row(batch, row, left);
      batch.starts[row] = first == 0 ? 1 : 0;
    }
  }

  std::string describe(ablate::Split split, std::int64_t index) const override {
    const auto rest = bytes_of(split).subspan(ablate::place_of(index, size(split)));
    std::string text = "bytes from " + std::to_string(index) + " on: ";
    for (const auto byte : rest.first(std::min(rest.size(), static_cast<std::size_t>(length_))))
      if (byte == '\n')
        text += '\n';
      else if (byte < ' ' || byte > '~')
        text.append({'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]});
      else
        text += static_cast<char>(byte);
    return text;
  }

 private:
  std::span<const std::uint8_t> bytes_of(ablate::Split split) const {
    const auto which = static_cast<std::size_t>(split);
    const auto begin = which == 0 ? 0 : ends_[which - 1];
    return std::span(text_).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(ends_[which] - begin));
  }

  std::string data_;
  std::int64_t bytes_, length_;
  std::vector<std::uint8_t> text_;
  std::array<std::int64_t, 3> ends_{};  ///< of train, dev and test
  std::string digest_;
};

}  // namespace

ABLATE_TASK(LanguageModel, {.id = "lm",
                            .version = "1.0.0",
                            .summary = "bytes of a file, as one stream: which one comes next?",
                            .paper = "Al-Rfou et al. 2019, arXiv 1808.04444, section 3 (enwik8, split by place)",
                            .parameters = parameters})
