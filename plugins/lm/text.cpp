#include "text.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "ablate/archive.h"
#include "ablate/digest.h"
#include "ablate/input_file.h"
#include "ablate/parallel.h"

namespace ablate::lm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kShare = 20;  ///< dev and test are each 1/kShare of a single file
constexpr std::size_t kPiece = std::size_t{1} << 26;

/// Returns the length in bytes of a UTF-8 character by its first byte; 0: not a first byte.
std::size_t length_of(std::uint8_t first) {
  return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/// True if `rest` completes a character that begins with `first`: no overlong form, no surrogate, a valid code point (RFC 3629,
/// section 4).
bool goes_on(std::uint8_t first, std::span<const std::uint8_t> rest) {
  if (rest.empty()) return true;
  const std::uint8_t least = first == 0xe0   ? 0xa0
                             : first == 0xf0 ? 0x90
                                             : 0x80,
                     most = first == 0xed   ? 0x9f
                            : first == 0xf4 ? 0x8f
                                            : 0xbf;
  return rest[0] >= least && rest[0] <= most && std::ranges::all_of(rest, [](auto byte) { return byte >> 6 == 2; });
}

void check_content(const fs::path& path, std::span<const std::uint8_t> content) {
  if (content.empty()) throw FileError(path, "is empty, expected a text; fetch it again, or leave it out");
  for (std::size_t at = 0; at < content.size();) {
    const auto length = length_of(content[at]);
    const auto rest = content.subspan(at, std::min(std::max<std::size_t>(length, 1), content.size() - at)).subspan(1);
    const bool is_whole = rest.size() + 1 == length && goes_on(content[at], rest);
    if (!is_whole) {
      char found[5];
      std::snprintf(found, sizeof found, "0x%02x", content[at]);
      const auto line = 1 + std::ranges::count(content.first(at), std::uint8_t{'\n'});
      throw FileError(path, static_cast<std::uint64_t>(line),
                      std::string("found the byte ") + found + ", expected UTF-8; fetch it again");
    }
    at += length;
  }
}

std::vector<std::uint8_t> read_zipped(const fs::path& zip, std::uint64_t most) {
  Archive archive(zip, Packing::kZip);
  archive.next();
  return archive.read_some(most);
}

Text read_file(const Source& source, std::size_t wanted) {
  const auto most = wanted == 0 ? UINT64_MAX : wanted;
  Text text{.bytes = source.zipped ? read_zipped(source.path, most) : InputFile(source.path).read_some(most)};
  const auto all = text.bytes.size(), share = all / kShare;
  if (all < wanted)
    throw FileError(source.path, "found " + std::to_string(all) + " bytes, expected bytes = " + std::to_string(wanted) +
                                     " or more; make bytes smaller, or 0 for all");
  text.ends = {all - 2 * share, all - share, all};
  return text;
}

std::array<std::vector<std::uint8_t>, 3> unpack(const fs::path& zip) {
  std::array<std::vector<std::uint8_t>, 3> parts;
  std::array<bool, 3> found{};
  Archive archive(zip, Packing::kZip);
  while (const auto name = archive.next()) {
    const auto split = std::ranges::find(kWikiText, name->filename().string()) - kWikiText.begin();
    if (split == std::ssize(kWikiText)) continue;
    const auto which = static_cast<std::size_t>(split);
    if (std::exchange(found[which], true))
      throw FileError(zip, "holds " + name->filename().string() + " twice, expected it once");
    check_content(zip / *name, parts[which] = archive.read_some(UINT64_MAX));
  }
  std::string missing;
  for (std::size_t split = 0; split < found.size(); ++split)
    if (!found[split]) missing += (missing.empty() ? "" : ", ") + std::string(kWikiText[split]);
  if (!missing.empty()) throw FileError(zip, "lacks " + missing + ", expected all three files of WikiText");
  return parts;
}

Text read_wikitext(const Source& source, int threads) {
  std::array<std::vector<std::uint8_t>, 3> parts;
  if (fs::is_directory(source.path)) {
    const auto files = files_of(source);
    parallel(parts.size(), threads, [&](std::size_t split) {
      parts[split] = InputFile(files[split].front()).read_some(UINT64_MAX);
      check_content(files[split].front(), parts[split]);
    });
  } else {
    parts = unpack(source.path);
  }
  Text text{.bytes = std::move(parts[0]), .lines = true};
  for (std::size_t split = 0; split < parts.size(); ++split) {
    if (split > 0) text.bytes.insert(text.bytes.end(), parts[split].begin(), parts[split].end());
    text.ends[split] = text.bytes.size();
  }
  return text;
}

Text read_books(const Source& source, int threads) {
  struct Book {
    fs::path path;
    std::size_t begin, size;
  };
  Text text;
  std::vector<Book> books;
  std::size_t end = 0;
  const auto files = files_of(source);
  for (std::size_t split = 0; split < files.size(); ++split) {
    for (const auto& path : files[split]) {
      InputFile{path};  // throws if the path is a folder
      books.push_back({path, end, fs::file_size(path)});
      end += books.back().size + 1;
    }
    text.ends[split] = end;
  }
  text.bytes.assign(end, '\n');
  parallel(books.size(), threads, [&](std::size_t i) {
    const auto& [path, begin, size] = books[i];
    const auto content = std::span(text.bytes).subspan(begin, size);
    InputFile file(path);
    file.read_all(content, "its own " + std::to_string(size) + " bytes");
    std::uint8_t more = 0;
    if (file.read({&more, 1}) != 0) throw FileError(path, "is packed by gzip, expected plain text; unpack it");
    check_content(path, content);
  });
  return text;
}

}  // namespace

Text read_text(const Source& source, std::int64_t bytes, int threads) {
  switch (source.form) {
    case Form::kFile:
      return read_file(source, static_cast<std::size_t>(bytes));
    case Form::kWikiText:
      return read_wikitext(source, threads);
    case Form::kBooks:
      return read_books(source, threads);
  }
  return {};
}

std::string digest(const Text& text, Form form, int threads) {
  if (form == Form::kFile) return Digest().add(text.bytes.data(), text.bytes.size()).hex();
  std::vector<Digest::Sum> sums((text.bytes.size() + kPiece - 1) / kPiece);
  parallel(sums.size(), threads, [&](std::size_t i) {
    const auto piece = std::span(text.bytes).subspan(i * kPiece).first(std::min(kPiece, text.bytes.size() - i * kPiece));
    sums[i] = Digest().add(piece.data(), piece.size()).sum();
  });
  Digest all;
  for (const auto end : text.ends) all.add(std::uint64_t{end});
  for (const auto& sum : sums) all.add(sum.data(), sum.size());
  return all.add(text.lines).hex();
}

void check_length(const Source& source, const std::array<std::size_t, 3>& tokens, std::int64_t length) {
  const auto least = static_cast<std::size_t>(length) + 1;
  if (source.form == Form::kFile && tokens[1] < least)
    throw FileError(source.path, "found " + std::to_string(tokens[0] + tokens[1] + tokens[2]) + " bytes, expected at least " +
                                     std::to_string(kShare * least) + ": dev and test are 5 % each, and have to hold a " +
                                     "segment of length = " + std::to_string(length) + " and the byte after it");
  constexpr const char* kSplits[] = {"train", "dev", "test"};
  for (std::size_t split = 0; split < tokens.size(); ++split)
    if (tokens[split] < least)
      throw FileError(source.path, std::string(kSplits[split]) + " has " + std::to_string(tokens[split]) +
                                       " tokens, expected at least " + std::to_string(least) +
                                       ": a segment of length = " + std::to_string(length) + " and the token after it");
}

void append_readable(std::string& text, std::uint8_t byte) {
  if (byte == '\n' || (byte >= ' ' && byte <= '~'))
    text += static_cast<char>(byte);
  else
    text.append({'\\', 'x', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]});
}

}  // namespace ablate::lm
