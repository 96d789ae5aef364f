#include "languages.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ablate::formal {
namespace {

/// Words of group elements. The value of a word is the product of its elements in order.
class Products final : public Language {
 public:
  /// @param names names of the elements; the first is the identity
  /// @param table [a * order + b]: the product of a, then b
  Products(std::vector<std::string> names, Ids table) : names_(std::move(names)), table_(std::move(table)) {}

  std::int64_t vocabulary() const override { return std::ssize(names_); }
  std::int64_t values() const override { return vocabulary(); }
  std::string symbol(std::int64_t id) const override { return names_[static_cast<std::size_t>(id)]; }

  Row draw(std::int64_t length, std::mt19937_64& random) const override {
    Row word;
    std::int64_t product = 0;
    for (std::int64_t i = 0; i < length; ++i) {
      word.ids.push_back(one_of(0, vocabulary(), random));
      product = table_[static_cast<std::size_t>(product * vocabulary() + word.ids.back())];
      word.targets.push_back(product);
    }
    return word;
  }

 private:
  std::vector<std::string> names_;
  Ids table_;
};

/// Numbers below the modulus with +, - or * between them and = at the end. * binds more closely than + and -.
class Arithmetic final : public Language {
 public:
  explicit Arithmetic(std::int64_t modulus) : modulus_(modulus) {}

  std::int64_t vocabulary() const override { return modulus_ + 4; }
  std::int64_t values() const override { return modulus_; }
  std::int64_t step() const override { return 2; }
  std::string symbol(std::int64_t id) const override {
    return id < modulus_ ? std::to_string(id) : std::string(1, "+-*="[id - modulus_]);
  }

  Row draw(std::int64_t length, std::mt19937_64& random) const override {
    Row word;
    std::int64_t sum = 0, product = 1;  // `product`: the last summand so far, with its sign; `sum`: all summands before
    for (std::int64_t i = 0; i < length; i += 2) {
      const auto number = one_of(0, modulus_, random), sign = one_of(0, 3, random);
      product = product * number % modulus_;
      const auto value = ((sum + product) % modulus_ + modulus_) % modulus_;
      const bool ends = i + 2 == length;
      word.ids.insert(word.ids.end(), {number, modulus_ + (ends ? 3 : sign)});
      word.targets.insert(word.targets.end(), {value, ends ? value : -1});
      if (sign < 2) sum = value, product = sign == 0 ? 1 : -1;
    }
    return word;
  }

 private:
  std::int64_t modulus_;
};

template <std::int64_t kOrder>
std::unique_ptr<Language> cyclic(std::int64_t) {
  std::vector<std::string> names;
  Ids table;
  for (std::int64_t a = 0; a < kOrder; ++a) {
    names.push_back(std::to_string(a));
    for (std::int64_t b = 0; b < kOrder; ++b) table.push_back((a + b) % kOrder);
  }
  return std::make_unique<Products>(std::move(names), std::move(table));
}

/// Permutations of 12345, sorted by name; 21345 exchanges the first two. A product applies first a, then b.
template <bool kEvenAlone>
std::unique_ptr<Language> permutations(std::int64_t) {
  std::vector<std::string> names;
  std::map<std::string, std::int64_t> place;
  for (std::string name = "12345"; place.empty() || name != "12345"; std::next_permutation(name.begin(), name.end())) {
    int inversions = 0;
    for (std::size_t i = 0; i < name.size(); ++i)
      inversions += static_cast<int>(std::count_if(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(i),
                                                   [&](char before) { return before > name[i]; }));
    if (kEvenAlone && inversions % 2 != 0) continue;
    place.emplace(name, std::ssize(names));
    names.push_back(name);
  }
  Ids table;
  for (const auto& a : names)
    for (const auto& b : names) {
      std::string product;
      for (const char sent : a) product += b[static_cast<std::size_t>(sent - '1')];
      table.push_back(place.at(product));
    }
  return std::make_unique<Products>(std::move(names), std::move(table));
}

std::unique_ptr<Language> arithmetic(std::int64_t modulus) { return std::make_unique<Arithmetic>(modulus); }

constexpr LanguageInfo kLanguages[] = {
    {"parity", false, cyclic<2>},      {"modular-arithmetic", false, arithmetic},
    {"s5", true, permutations<false>}, {"a5", true, permutations<true>},
    {"z60", true, cyclic<60>},
};

}  // namespace

const LanguageInfo& language_of(const std::string& name) { return *std::ranges::find(kLanguages, name, &LanguageInfo::name); }

}  // namespace ablate::formal
