#include "core/trial/server/worker.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>
#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "core/kernels/feed_forward.h"
#include "core/trial/device/tensor_memory.h"
#include "core/trial/server/environment.h"

namespace ablate {
namespace {

/// Limits OpenMP to one thread while the object lives, because a team of threads does not survive a fork. Torch's own function
/// for this makes a thread pool, so this class calls the OpenMP library that torch has loaded.
class OneThread {
 public:
  OneThread() {
    if (const auto most = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")); most && set_)
      before_ = most();
    if (before_ > 0) set_(1);
  }
  ~OneThread() {
    if (before_ > 0) set_(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  bool is_sure() const { return before_ > 0; }

 private:
  void (*set_)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  int before_ = 0;
};

}  // namespace

void warm_up() {
  constexpr std::int64_t kBatch = 2, kLength = 8, kWidth = 16, kClasses = 4;
  const OneThread one;
  if (!one.is_sure()) return;
  for (const auto type : {at::kFloat, at::kDouble}) {
    // The weights require gradients, but none is computed: the engine for gradients may make threads.
    const auto weight = at::full({kWidth, kWidth}, 0.1, type).requires_grad_();
    const auto bias = at::zeros({kWidth}, type).requires_grad_();
    const auto tokens = at::arange(kBatch * kLength, at::kLong).reshape({kBatch, kLength}).remainder(kWidth);
    auto x = at::embedding(weight, tokens);  // [batch, length, width]
    x = at::layer_norm(x, {kWidth}, bias, bias);
    const auto q = at::linear(x, weight, bias);
    const auto read = at::softmax(at::matmul(q, q.transpose(-1, -2)), -1).matmul(x);
    x = at::add(x, at::linear(at::gelu(at::linear(read, weight, bias)), weight));
    if (type == at::kFloat)  // oneDNN detects the processor and compiles its first product
      kernels::feed_forward(x, {bias, bias, weight, bias, weight, bias}, kernels::Choice::kFused);
    const auto logits = at::linear(x.mean(1), weight.narrow(0, 0, kClasses));
    at::cross_entropy_loss(logits, at::zeros({kBatch}, at::kLong)).item();
  }
}

int serve_ablate(int count, char** arguments, const std::vector<NamedHandler>& more) {
  if (count != 2) {
    std::cerr << arguments[0] << " is started by ablate with its process id; run `ablate --help`\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(arguments[1])) return 1;
  // Messages use a separate descriptor, so that a plugin that prints cannot garble them.
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    count_tensor_memory();
    warm_up();
    ProcessState state;
    TorchJobs jobs(state, study_handlers(more));
    serve(STDIN_FILENO, output, describe_environment(), state, jobs);
  } catch (const std::exception& error) {
    std::cerr << arguments[0] << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace ablate
