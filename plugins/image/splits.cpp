#include "splits.h"

#include <openssl/evp.h>

#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace ablate::image {
namespace {

class Hash {
 public:
  Hash() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) { check(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

  /// The size goes first: no two lists of columns give one stream of bytes.
  template <class T>
  void add(const std::vector<T>& column) {
    const std::uint64_t bytes = column.size() * sizeof(T);
    check(EVP_DigestUpdate(context_.get(), &bytes, sizeof bytes));
    check(EVP_DigestUpdate(context_.get(), column.data(), bytes));
  }
  std::string hex() {
    std::array<unsigned char, 32> sum{};
    check(EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr));
    std::string text;
    for (const auto byte : sum) {
      text += "0123456789abcdef"[byte >> 4];
      text += "0123456789abcdef"[byte & 15];
    }
    return text;
  }

 private:
  static void check(int done) {
    if (done != 1) throw std::runtime_error("image: libcrypto failed to compute a SHA-256");
  }
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

void split(Splits& splits, std::int64_t dev, std::uint64_t seed) {
  auto& [train, dev_places, test] = splits.places;
  train.resize(splits.train_files.labels.size());
  test.resize(splits.test_files.labels.size());
  std::iota(train.begin(), train.end(), 0u);
  std::iota(test.begin(), test.end(), 0u);
  // std::shuffle would differ between standard libraries; mt19937_64 does not.
  std::mt19937_64 random(seed);
  for (std::size_t i = train.size(); i > 1; --i) std::swap(train[i - 1], train[(random() >> 32) * i >> 32]);
  const auto hold = [&](Places& to) {
    to.assign(train.end() - dev, train.end());
    train.resize(train.size() - static_cast<std::size_t>(dev));
  };
  hold(dev_places);
  if (test.empty()) hold(test);
}

std::string digest(const Splits& splits) {
  Hash hash;
  for (const auto* files : {&splits.train_files, &splits.test_files}) {
    std::vector<std::int64_t> shape = {files->shape.rows, files->shape.columns};
    if (files->shape.channels > 1) shape.push_back(files->shape.channels);
    hash.add(shape);
    hash.add(files->values);
    hash.add(files->labels);
  }
  for (const auto& places : splits.places) hash.add(places);
  return hash.hex();
}

}  // namespace ablate::image
