// Pairs of documents in the form of the Long Range Arena's AAN files: label, id1, id2, text1 and text2, separated by tabs.
// The files have no header and no quoting.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <unordered_set>
#include <vector>

namespace ablate::retrieval {

struct Pair {
  bool cites;
  std::string ids[2];
  const std::string* texts[2];  ///< pointers into the Texts of read_pairs()
};

/// Holds each text once, because a document occurs in many pairs. Elements never move.
using Texts = std::unordered_set<std::string>;

/// Reads the first `length` bytes of each text from a file, plain or gzipped. Throws FileError for a file that is unreadable,
/// empty or not regular. Throws with FILE:LINE for a wrong number of columns, an empty text, or a label other than 0 or 1. The
/// published labels 0.0 and 1.0 are accepted.
std::vector<Pair> read_pairs(const std::filesystem::path& path, std::size_t length, Texts& texts);

}  // namespace ablate::retrieval
