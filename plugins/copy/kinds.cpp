#include "kinds.h"

#include <algorithm>

namespace ablate::copy {
namespace {

using Random = std::mt19937_64;

constexpr std::int64_t kSelectiveLength = 256;

/// Copying: a string, an id that ends it, and the string again. From the end id on, each target is the next token of the copy.
void check_copying(const Settings& settings, std::int64_t length) {
  expect(settings.vocabulary >= 3, "vocabulary", settings.vocabulary, "at least 3: two tokens and the id that ends the string");
  expect(length >= 2 && length % 2 == 0, "length", length, "an even number: the string twice");
}

Row draw_copying(const Settings& settings, std::int64_t length, Random& random) {
  Row row;
  const auto half = static_cast<std::size_t>(length / 2);
  while (row.ids.size() < half) row.ids.push_back(one_of(0, settings.vocabulary - 1, random));
  row.targets.assign(half, -1);
  row.targets.insert(row.targets.end(), row.ids.begin(), row.ids.end());
  row.ids.push_back(settings.vocabulary - 1);
  for (std::size_t i = 0; i + 1 < half; ++i) row.ids.push_back(row.ids[i]);
  return row;
}

/// Selective copying: tokens at random positions among blanks, then a mark for each token. The target at each mark is the next
/// token.
void check_selective(const Settings& settings, std::int64_t length) {
  expect(settings.vocabulary >= 4, "vocabulary", settings.vocabulary, "at least 4: two tokens, the blank and the mark");
  const bool fits = length > 2 * settings.copied;
  if (length == kSelectiveLength)  // the default length: the study may have set only `copied`
    expect(fits, "copied", settings.copied, "less than half of length = " + std::to_string(length));
  expect(fits, "length", length, "more than twice copied = " + std::to_string(settings.copied));
}

Row draw_selective(const Settings& settings, std::int64_t length, Random& random) {
  constexpr std::int64_t kBlank = 0;
  Row row;
  const auto first_mark = length - settings.copied;
  row.targets.assign(static_cast<std::size_t>(first_mark), -1);
  for (std::int64_t place = 0; place < first_mark; ++place) {
    const auto missing = length - std::ssize(row.targets);  // tokens still to place, uniformly over the remaining positions
    const bool is_token = one_of(0, first_mark - place, random) < missing;
    row.ids.push_back(is_token ? one_of(1, settings.vocabulary - 1, random) : kBlank);
    if (is_token) row.targets.push_back(row.ids.back());
  }
  row.ids.resize(static_cast<std::size_t>(length), settings.vocabulary - 1);
  return row;
}

/// Induction: a question id replaces a random token and the last token. The target is the token after the first question id.
void check_induction(const Settings& settings, std::int64_t length) {
  expect(settings.vocabulary >= 3, "vocabulary", settings.vocabulary, "at least 3: two tokens and the id that asks");
  expect(length >= 3, "length", length, "at least 3");
}

Row draw_induction(const Settings& settings, std::int64_t length, Random& random) {
  Row row;
  for (std::int64_t i = 0; i < length; ++i) row.ids.push_back(one_of(0, settings.vocabulary - 1, random));
  row.targets.assign(row.ids.size(), -1);
  const auto place = static_cast<std::size_t>(one_of(0, length - 2, random));
  row.ids[place] = row.ids.back() = settings.vocabulary - 1;
  row.targets.back() = row.ids[place + 1];
  return row;
}

constexpr KindInfo kKinds[] = {
    {"copying", 64, check_copying, draw_copying},
    {"induction", 256, check_induction, draw_induction},
    {"selective-copying", kSelectiveLength, check_selective, draw_selective},
};

}  // namespace

const KindInfo& kind_of(const std::string& name) { return *std::ranges::find(kKinds, name, &KindInfo::name); }

}  // namespace ablate::copy
