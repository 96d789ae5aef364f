// The bytes of a text, by split.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "source.h"

namespace ablate::lm {

struct Text {
  std::vector<std::uint8_t> bytes;
  std::array<std::size_t, 3> ends{};  ///< end of train, dev and test
  bool lines = false;  ///< true if a line's end is a word, as in publications on WikiText; in books, it is white space

  std::span<const std::uint8_t> part(std::size_t split) const {
    const auto begin = split == 0 ? 0 : ends[split - 1];
    return std::span(bytes).subspan(begin, ends[split] - begin);
  }
};

/// Reads the text. A single file (plain, gzipped or zipped) is split into 90 % train, 5 % dev and 5 % test. WikiText has three
/// files. The books of each folder are joined in the order of their numbers, and a newline follows each book. Throws FileError
/// if a file is unreadable or shorter than `bytes`, or if a part of WikiText or a book is empty or not UTF-8 (with the line).
/// @param bytes limits a single file to its first bytes; 0: all of it
Text read_text(const Source& source, std::int64_t bytes, int threads);

/// Digest of the content, the same for every number of threads. For a single file it is the digest of its bytes.
std::string digest(const Text& text, Form form, int threads);

/// Throws std::runtime_error if a split has fewer than length + 1 tokens: a segment, and a last token that is only a target.
/// @param tokens number of tokens of each split
void check_length(const Source& source, const std::array<std::size_t, 3>& tokens, std::int64_t length);

/// Appends a printable byte as it is, any other byte as an escape like \xe2.
void append_readable(std::string& text, std::uint8_t byte);

}  // namespace ablate::lm
