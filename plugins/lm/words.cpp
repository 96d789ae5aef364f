#include "words.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "ablate/cached_file.h"
#include "ablate/parallel.h"

namespace ablate::lm {
namespace {

constexpr std::string_view kUnknown = "<unk>", kEnd = "<eos>";
constexpr std::size_t kChunk = std::size_t{1} << 22;  // bytes
constexpr std::size_t kHeader = 3 * sizeof(std::uint64_t);

using Counts = std::unordered_map<std::string_view, std::uint64_t>;
using Ids = std::unordered_map<std::string_view, std::uint32_t>;

/// ASCII white space only, as in the published vocabularies.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

template <class Visit>
void for_each_word(std::string_view text, bool lines, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    if (is_space(text[at])) {
      if (lines && text[at] == '\n') visit(kEnd);
      ++at;
      continue;
    }
    const auto begin = at;
    while (at < text.size() && !is_space(text[at])) ++at;
    visit(text.substr(begin, at - begin));
  }
}

std::string_view view(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A part of a split. Words do not cross its borders.
struct Chunk {
  std::string_view text;
  std::size_t first = 0;  ///< index of its first word in the whole text
  std::size_t words = 0;
};

/// Splits the text into chunks. Sets the end of each split, as an index of chunks.
std::vector<Chunk> chunks_of(const Text& text, std::array<std::size_t, 3>& ends) {
  std::vector<Chunk> chunks;
  for (std::size_t split = 0; split < ends.size(); ++split) {
    for (auto rest = view(text.part(split)); !rest.empty();) {
      auto size = std::min(kChunk, rest.size());
      while (size < rest.size() && !is_space(rest[size])) ++size;
      chunks.push_back({rest.substr(0, size)});
      rest.remove_prefix(size);
    }
    ends[split] = chunks.size();
  }
  return chunks;
}

/// Counts the words of each chunk, and how often each word occurs in train.
Counts count(std::vector<Chunk>& chunks, std::size_t train, bool lines, int threads) {
  Counts all;
  std::mutex adding;
  parallel(chunks.size(), threads, [&](std::size_t i) {
    auto& chunk = chunks[i];
    Counts part;  // freed after each chunk, because the counts of all chunks together would be as large as the text
    for_each_word(chunk.text, lines, [&](std::string_view word) {
      ++chunk.words;
      if (i < train) ++part[word];
    });
    const std::scoped_lock lock(adding);
    for (const auto& [word, times] : part) all[word] += times;
  });
  for (std::size_t i = 1; i < chunks.size(); ++i) chunks[i].first = chunks[i - 1].first + chunks[i - 1].words;
  return all;
}

/// Returns <unk> and then the words by falling frequency.
std::vector<std::string_view> choose(const Counts& counts, const Limits& limits, const std::string& name) {
  std::vector<std::pair<std::uint64_t, std::string_view>> frequent;
  for (const auto& [word, times] : counts)
    if (word != kUnknown && times >= static_cast<std::uint64_t>(limits.least_count)) frequent.emplace_back(times, word);
  const auto wanted = static_cast<std::size_t>(limits.vocabulary);
  if (frequent.empty()) {
    std::uint64_t most = 0;
    for (const auto& [word, times] : counts)
      if (word != kUnknown) most = std::max(most, times);
    throw std::runtime_error(name + ": least_count = " + std::to_string(limits.least_count) + " leaves only <unk>, expected " +
                             "at least one other word; the most frequent word of train occurs " + std::to_string(most) +
                             " times: set least_count to that or less");
  }
  if (frequent.size() + 1 < wanted)
    throw std::runtime_error(name + ": train has " + std::to_string(frequent.size() + 1) + " words that occur least_count = " +
                             std::to_string(limits.least_count) + " times or more (<unk> is one, and <eos> where line ends " +
                             "count), expected vocabulary = " + std::to_string(wanted) + "; set vocabulary to " +
                             std::to_string(frequent.size() + 1) + " or less");
  const auto by_frequency = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::ranges::sort(frequent, by_frequency);
  std::vector<std::string_view> vocabulary = {kUnknown};
  for (std::size_t i = 0; vocabulary.size() < wanted; ++i) vocabulary.push_back(frequent[i].second);
  return vocabulary;
}

std::vector<std::uint8_t> find_words(const Text& text, const Limits& limits, const std::string& name, int threads) {
  std::array<std::size_t, 3> ends{};
  auto chunks = chunks_of(text, ends);
  const auto counts = count(chunks, ends[0], text.lines, threads);
  const auto vocabulary = choose(counts, limits, name);
  Ids ids;
  std::size_t letters = 0;
  for (std::uint32_t i = 0; i < vocabulary.size(); ++i) {
    ids[vocabulary[i]] = i;
    letters += vocabulary[i].size() + 1;
  }
  const auto words = chunks.empty() ? 0 : chunks.back().first + chunks.back().words;
  std::vector<std::uint8_t> content(kHeader + words * sizeof(std::uint32_t) + letters);
  for (std::size_t split = 0; split < ends.size(); ++split) {
    const std::uint64_t end = ends[split] == 0 ? 0 : chunks[ends[split] - 1].first + chunks[ends[split] - 1].words;
    std::memcpy(content.data() + split * sizeof end, &end, sizeof end);
  }
  parallel(chunks.size(), threads, [&](std::size_t i) {
    auto* to = content.data() + kHeader + chunks[i].first * sizeof(std::uint32_t);
    for_each_word(chunks[i].text, text.lines, [&](std::string_view word) {
      const auto found = ids.find(word);
      const std::uint32_t id = found == ids.end() ? 0 : found->second;
      std::memcpy(to, &id, sizeof id);
      to += sizeof id;
    });
  });
  auto* to = content.data() + kHeader + words * sizeof(std::uint32_t);
  for (const auto word : vocabulary) {
    to = std::ranges::copy(word, to).out;
    *to++ = '\n';
  }
  return content;
}

}  // namespace

std::int64_t count_words(std::span<const std::uint8_t> text, bool lines) {
  std::int64_t words = 0;
  for_each_word(view(text), lines, [&](std::string_view) { ++words; });
  return words;
}

Words::Words(const Text& text, const Limits& limits, const std::string& digest, const std::string& name,
             const std::filesystem::path& cache, int threads) {
  const auto key = digest + " vocabulary " + std::to_string(limits.vocabulary) + " least_count " +
                   std::to_string(limits.least_count) + " form 1";
  content_ = cached(cache, "lm", key, [&] { return find_words(text, limits, name, threads); }).content;
  for (std::size_t split = 0; split < ends_.size(); ++split) {
    std::uint64_t end = 0;
    std::memcpy(&end, content_.data() + split * sizeof end, sizeof end);
    ends_[split] = end;
  }
  auto rest = view(std::span(content_).subspan(kHeader + ends_[2] * sizeof(std::uint32_t)));
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    vocabulary_.push_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
}

std::uint32_t Words::number_at(std::size_t place) const {
  std::uint32_t number = 0;
  std::memcpy(&number, content_.data() + kHeader + place * sizeof number, sizeof number);
  return number;
}

}  // namespace ablate::lm
