#include "ablate/digest.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace ablate {
namespace {

void check(int done) {
  if (done != 1) throw std::runtime_error("libcrypto failed to compute a SHA-256");
}

}  // namespace

Digest::Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  check(context_ == nullptr ? 0 : EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
}

Digest& Digest::add(const void* data, std::size_t bytes) {
  check(EVP_DigestUpdate(context_.get(), data, bytes));
  return *this;
}

Digest::Sum Digest::sum() {
  Sum sum{};
  check(EVP_DigestFinal_ex(context_.get(), sum.data(), nullptr));
  return sum;
}

std::string Digest::hex() { return to_hex(sum()); }

std::string to_hex(const Digest::Sum& sum) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const auto byte : sum) text += {kDigits[byte >> 4], kDigits[byte & 15]};
  return text;
}

}  // namespace ablate
