// The words of a text: the tokens between white space and, if Text::lines is true, the ends of lines.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text.h"

namespace ablate::lm {

/// Limits of the vocabulary. Words outside of it are <unk>.
struct Limits {
  std::int64_t vocabulary;   ///< number of ids, with <unk>: the most frequent words of train; ties in byte order
  std::int64_t least_count;  ///< least number of occurrences in train
};

/// Returns the number of words. If `lines` is true, a line's end is also a word.
std::int64_t count_words(std::span<const std::uint8_t> text, bool lines);

/// The words of all splits as ids. The id 0 is <unk>, also for a word <unk> in the text. <eos> is a line's end.
class Words {
 public:
  Words() = default;
  Words(Words&&) = default;  // movable only, because it has views of its own content
  Words& operator=(Words&&) = default;
  /// Builds the words once for a text and its limits; later calls read them from the cache folder.
  /// @param digest digest of the text
  /// @param name source of the text, the beginning of every error
  /// Throws std::runtime_error if train has fewer words than the vocabulary, or if least_count leaves no word.
  Words(const Text& text, const Limits& limits, const std::string& digest, const std::string& name,
        const std::filesystem::path& cache, int threads);

  std::size_t size(std::size_t split) const { return ends_[split] - begin(split); }
  std::uint32_t id(std::size_t split, std::size_t place) const { return number_at(begin(split) + place); }
  std::string_view word(std::uint32_t id) const { return vocabulary_[id]; }

 private:
  std::size_t begin(std::size_t split) const { return split == 0 ? 0 : ends_[split - 1]; }
  std::uint32_t number_at(std::size_t place) const;

  std::vector<std::uint8_t> content_;  ///< the stored form: three ends, ids, then the vocabulary, one word per line
  std::array<std::size_t, 3> ends_{};  ///< in words
  std::vector<std::string_view> vocabulary_;
};

}  // namespace ablate::lm
