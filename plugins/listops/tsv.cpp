#include "tsv.h"

#include <algorithm>
#include <stdexcept>

#include "ablate/data_files.h"
#include "ablate/input_file.h"
#include "ablate/parallel.h"

namespace ablate::listops {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 22;
constexpr const char* kNames[] = {"basic_train.tsv", "basic_val.tsv", "basic_test.tsv"};
constexpr std::string_view kHeader = "Source\tTarget";

/// A fault of a row whose line number is not known yet.
struct RowFault {
  std::size_t offset;  ///< start of the row in the file
  std::string what;
};

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Quotes text for a message. Control characters become escapes such as \x00, because a message ends at a NUL.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown = "'";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < ' ' ? std::string("\\x") + kDigits[byte >> 4] + kDigits[byte & 15] : std::string(1, c);
  }
  return shown + (text.size() > kMost ? "...'" : "'");
}

class RowReader {
 public:
  explicit RowReader(std::int64_t max_length) : max_length_(static_cast<std::size_t>(max_length)) {}

  /// Throws std::invalid_argument with the fault of the row.
  void read(std::string_view row, Examples& to) {
    const auto columns = 1 + std::count(row.begin(), row.end(), '\t');
    if (columns != 2)
      throw std::invalid_argument("found " + std::to_string(columns) + " columns in " + quoted(row) +
                                  ", expected two: an expression, a tab, a digit");
    const auto tab = row.find('\t');
    const auto answer = row.substr(tab + 1);
    if (answer.size() != 1 || answer[0] < '0' || answer[0] > '9')
      throw std::invalid_argument("found the answer " + quoted(answer) + ", expected a digit from 0 to 9");
    split(row.substr(0, tab));
    if (symbols_.size() > max_length_)
      throw std::invalid_argument("the expression has " + std::to_string(symbols_.size()) +
                                  " symbols, expected at most max_length = " + std::to_string(max_length_) +
                                  "; set max_length to the longest row");
    const int right = evaluate_(symbols_);
    if (answer[0] - '0' != right)
      throw std::invalid_argument("says " + std::string(answer) + ", but the answer is " + std::to_string(right) + " for " +
                                  to_text(symbols_, 200));
    to.add(symbols_, right);
  }

 private:
  void split(std::string_view source) {
    symbols_.clear();
    while (!source.empty()) {
      const auto end = std::min(source.find(' '), source.size());
      const auto token = source.substr(0, end);
      source.remove_prefix(std::min(end + 1, source.size()));
      if (token.empty() || token == "(" || token == ")") continue;
      const auto symbol = to_symbol(token);
      if (!symbol)
        throw std::invalid_argument("found " + quoted(token) + " after " + std::to_string(symbols_.size()) +
                                    " symbols, expected a digit, [MIN, [MAX, [MED, [SM or ]");
      symbols_.push_back(*symbol);
    }
  }

  std::size_t max_length_;
  std::vector<Symbol> symbols_;
  Evaluator evaluate_;
};

/// Reads the rows that begin in [begin, end).
Examples read_rows(std::string_view text, std::size_t begin, std::size_t end, std::int64_t max_length) {
  Examples examples;
  RowReader reader(max_length);
  while (begin < end) {
    const auto stop = std::min(text.find('\n', begin), text.size());
    try {
      reader.read(without_return(text.substr(begin, stop - begin)), examples);
    } catch (const std::invalid_argument& error) {
      throw RowFault{begin, error.what()};
    }
    begin = stop + 1;
  }
  return examples;
}

}  // namespace

std::vector<std::filesystem::path> find_files(const std::string& data) {
  return ablate::find_files("listops", data, kExpected, kNames);
}

Examples read_tsv(const std::filesystem::path& path, std::int64_t max_length, int threads) {
  const auto content = InputFile(path).read_some(UINT64_MAX);
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  const auto first_end = std::min(text.find('\n'), text.size());
  if (without_return(text.substr(0, first_end)) != kHeader)
    throw FileError(
        path, 1,
        "found " + quoted(without_return(text.substr(0, first_end))) + ", expected the header 'Source', a tab, 'Target'");
  if (first_end + 1 >= text.size()) throw FileError(path, "has no row after its header, expected one or more");

  std::vector<std::size_t> cuts = {first_end + 1};
  while (cuts.back() < text.size()) {
    const auto end = text.find('\n', std::min(cuts.back() + kChunkBytes, text.size()));
    cuts.push_back(end == std::string_view::npos ? text.size() : end + 1);
  }
  std::vector<Examples> parts(cuts.size() - 1);
  try {
    parallel(parts.size(), threads, [&](std::size_t i) { parts[i] = read_rows(text, cuts[i], cuts[i + 1], max_length); });
  } catch (const RowFault& fault) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(fault.offset), '\n');
    throw FileError(path, static_cast<std::uint64_t>(line), fault.what);
  }
  Examples result = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) result.append(parts[i], 0, parts[i].size());
  return result;
}

}  // namespace ablate::listops
