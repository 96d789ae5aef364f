#include "core/kernels/mixed_products.h"

#include <ATen/Context.h>
#include <ATen/native/CPUBlas.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

#include "core/kernels/choice.h"
#include "core/kernels/cpu/bfloat16.h"

namespace ablate::kernels {
namespace {

using at::native::cpublas::brgemm;

void float_product(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc, bool add) {
  brgemm(m, n, k, lda, ldb, ldc, add, a, b, c, false);
}

#ifdef ABLATE_KERNELS_X86
/// A thread's buffer for rounded numbers: 64-byte aligned, as large as the largest product so far.
class Rounded {
 public:
  c10::BFloat16* of(std::size_t count) {
    if (count <= size_) return numbers_.get();
    constexpr std::size_t kAlignment = 64;
    const auto bytes = (count * sizeof(c10::BFloat16) + kAlignment - 1) / kAlignment * kAlignment;
    numbers_.reset(static_cast<c10::BFloat16*>(std::aligned_alloc(kAlignment, bytes)));
    size_ = numbers_ == nullptr ? 0 : count;
    if (numbers_ == nullptr) throw std::bad_alloc();
    return numbers_.get();
  }

 private:
  struct Free {
    void operator()(c10::BFloat16* numbers) const { std::free(numbers); }
  };
  std::unique_ptr<c10::BFloat16, Free> numbers_;
  std::size_t size_ = 0;
};

std::uint16_t* bits(c10::BFloat16* numbers) { return &numbers->x; }

void mixed_product(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c, int ldc, bool add) {
  static thread_local Rounded room;
  const auto left_size = static_cast<std::size_t>(m) * static_cast<std::size_t>(k);
  auto* const left = room.of(left_size + static_cast<std::size_t>(k) * static_cast<std::size_t>(n));
  auto* const right = left + left_size;
  cpu::avx512_bf16::round_rows(m, k, a, lda, bits(left));
  cpu::avx512_bf16::round_pairs(k, n, b, ldb, bits(right));
  brgemm(m, n, k, k, n, ldc, add, left, right, c, true);
}

/// True if LibTorch multiplies pairs of rows of bfloat16 here. One of the two calls throws if oneDNN has no such product.
bool has_pairs() {
  constexpr int kSize = 32;
  const std::vector<c10::BFloat16> a(kSize * kSize, 1.F);
  std::vector<c10::BFloat16> b(kSize * kSize, 0.F);
  b[1] = 3.F;  // row 1 of column 0
  std::vector<float> c(kSize * kSize);
  try {
    brgemm(kSize, kSize, kSize, kSize, kSize, kSize, false, a.data(), b.data(), c.data(), true);
    at::native::cpublas::brgemm_release();
  } catch (const std::exception&) {
    return false;
  }
  return c[0] == 3 && c[1] == 0;
}
#endif

std::string_view found() {
#ifdef ABLATE_KERNELS_X86
  if (instructions() != "avx512" || !__builtin_cpu_supports("avx512bf16") || !has_pairs()) return "";
  return at::native::cpublas::could_pack(at::kBFloat16) ? "amx" : "avx512";
#else
  return "";
#endif
}

bool multiplies_mixed() {
  return at::globalContext().float32Precision(at::Float32Backend::MKLDNN, at::Float32Op::MATMUL) == at::Float32Precision::BF16;
}

}  // namespace

std::string_view mixed_instructions() {
  static const std::string_view kFound = found();
  return kFound;
}

void multiply_mixed(bool mixed) {
  if (mixed && mixed_instructions().empty()) throw std::logic_error("this processor has no fast products of bfloat16");
  at::globalContext().setFloat32MatmulPrecision(mixed ? "medium" : "highest");
}

cpu::Product product() {
#ifdef ABLATE_KERNELS_X86
  if (multiplies_mixed() && !mixed_instructions().empty()) return mixed_product;
#endif
  return float_product;
}

ShareOfProducts::~ShareOfProducts() {
  if (mixed_instructions() == "amx" && multiplies_mixed()) at::native::cpublas::brgemm_release();
}

}  // namespace ablate::kernels
