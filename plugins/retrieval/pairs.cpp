#include "pairs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "ablate/input_file.h"

namespace ablate::retrieval {
namespace {

constexpr std::size_t kColumns = 5;
constexpr const char* kForm = "label, id1, id2, text1, text2 separated by tabs";

/// @return the number of columns; only the first five are stored
std::size_t split(std::string_view line, std::array<std::string_view, kColumns>& columns) {
  std::size_t count = 0;
  for (;;) {
    const auto end = std::min(line.find('\t'), line.size());
    if (count < kColumns) columns[count] = line.substr(0, end);
    ++count;
    if (end == line.size()) return count;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<Pair> read_pairs(const std::filesystem::path& path, std::size_t length, Texts& texts) {
  std::vector<Pair> pairs;
  Lines lines(path);
  while (const auto line = lines.next()) {
    std::array<std::string_view, kColumns> cells;
    const auto count = split(*line, cells);
    if (count != kColumns) lines.refuse("found " + std::to_string(count) + " columns, expected " + kForm);
    const auto& label = cells[0];
    const bool cites = label == "1" || label == "1.0";
    if (!cites && label != "0" && label != "0.0")
      lines.refuse("found the label \"" + std::string(label.substr(0, 20)) + "\", expected 0 or 1");
    Pair pair{cites, {std::string(cells[1]), std::string(cells[2])}, {}};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto text = cells[3 + i].substr(0, length);
      if (text.empty()) lines.refuse("text" + std::to_string(i + 1) + " is empty, expected a document");
      pair.texts[i] = &*texts.emplace(text).first;
    }
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) throw FileError(path, std::string("is empty, expected lines of ") + kForm);
  return pairs;
}

}  // namespace ablate::retrieval
