#include "core/util/nearest.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ablate {
namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

/// Returns "A B" for "A,B" if each is a candidate; else "".
std::string apart(std::string_view name, std::span<const std::string> candidates) {
  if (name.find(',') == std::string_view::npos) return "";
  std::string words;
  for (std::size_t begin = 0; begin <= name.size();) {
    const auto end = std::min(name.find(',', begin), name.size());
    const auto word = name.substr(begin, end - begin);
    if (std::find(candidates.begin(), candidates.end(), word) == candidates.end()) return "";
    words += (words.empty() ? "" : " ") + std::string(word);
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  std::size_t fewest = SIZE_MAX;
  for (const auto& candidate : candidates) {
    // Users often write only the last part of a longer name.
    const bool is_last = !name.empty() && candidate.ends_with(std::string(".") + std::string(name));
    const auto distance = is_last ? std::min<std::size_t>(edits(name, candidate), 1) : edits(name, candidate);
    const bool is_near = is_last || 3 * distance <= std::max(name.size(), candidate.size());
    if (is_near && distance < fewest) fewest = distance, best = candidate;
  }
  return best;
}

std::string hint(std::string_view name, std::span<const std::string> candidates) {
  if (const auto words = apart(name, candidates); !words.empty()) return " (write them apart: " + words + ")";
  if (const auto found = nearest(name, candidates); !found.empty()) return " (did you mean " + found + "?)";
  if (candidates.empty() || candidates.size() > 20) return "";
  std::string all;
  for (const auto& candidate : candidates) all += (all.empty() ? "" : ", ") + candidate;
  return " (known: " + all + ")";
}

}  // namespace ablate
