#include "core/kernels/choice.h"

#include <ATen/Version.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ablate::kernels {
namespace {

/// True if LibTorch has products of tiles here. The call throws if oneDNN has no such product for the processor.
bool has_products() {
  try {
    std::vector<float> a(256, 1), b(256, 1), c(256);
    at::native::cpublas::brgemm(16, 16, 16, 16, 16, 16, false, a.data(), b.data(), c.data(), false);
    return c.front() == 16;
  } catch (const c10::Error&) {
    return false;
  }
}

std::string_view found() {
#ifdef ABLATE_KERNELS_X86
  const auto capability = at::get_cpu_capability();
  const bool wide = capability.starts_with("AVX512");
  if ((wide || capability.starts_with("AVX2")) && has_products()) return wide ? "avx512" : "avx2";
#endif
  return "";
}

}  // namespace

std::string_view instructions() {
  static const std::string_view kFound = found();
  return kFound;
}

bool tiles_outrun_products() {
#ifdef ABLATE_KERNELS_X86
  static const bool kOutrun = instructions() == "avx512" && __builtin_cpu_is("amd");
  return kOutrun;
#else
  return false;
#endif
}

const cpu::Form& form() {
#ifdef ABLATE_KERNELS_X86
  if (instructions() == "avx512") return cpu::avx512::kForm;
  if (instructions() == "avx2") return cpu::avx2::kForm;
#endif
  return cpu::plain::kForm;
}

bool may_fuse(Choice choice, const std::vector<Tensor>& tensors) {
  return choice == Choice::kFused && !instructions().empty() && std::ranges::all_of(tensors, [](const Tensor& tensor) {
           return tensor.defined() && tensor.device().is_cpu() && tensor.scalar_type() == kFloat;
         });
}

}  // namespace ablate::kernels
