#include <cstdio>
#include <chrono>
#include <set>
#include "core/registry/library.h"
#include "core/trial/conformance/attention_checks.h"
#include "core/trial/conformance/training_check.h"
#include "core/trial/conformance/cost.h"
#include "core/trial/device/tensor_memory.h"
#include <ATen/Parallel.h>
#include <malloc.h>
using namespace ablate;
int main(int argc, char** argv) {
  at::set_num_threads(1);
  count_tensor_memory();
  keep_freed_memory();
  std::vector<const Descriptor*> all;
  for (int i = 2; i < argc; ++i) if (argv[i][0] == '/') all.push_back(&load_library(argv[i]));
  const std::string only = argv[1];
  const Descriptor* d = all.front();
  std::vector<const Descriptor*> parts(all.begin() + 1, all.end());
  double start = 0;
  auto now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); };
  auto cpu = [] { return double(clock()) / CLOCKS_PER_SEC; };
  double c0 = 0, total = 0;
  Checks checks([&](auto&, auto&) { start = now(); c0 = cpu(); },
                [&](const Check& c) { total += cpu() - c0; std::printf("%6.2f s cpu %5.2f  %-8s %-14s %-60.60s %s\n", now() - start, cpu() - c0, c.failed() ? "FAILED" : c.passed() ? "" : "unchecked", c.name.c_str(), c.on.c_str(), c.found.substr(0, 300).c_str()); std::fflush(stdout); });
  if (only != "all" && only != "small") checks.only({only});
  bool first = true;
  for (const auto& candidate : candidates(*d, nlohmann::json::object(), parts)) {
    check_attention(candidate, first && only != "small" ? Depth::kFull : Depth::kSmall, checks);
    check_training(candidate, checks);
    first = false;
  }
  std::printf("total cpu %.1f\n", total);
}
