// Work in parallel, with the same result for any number of threads. Torch-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace ablate {

/// Runs work(i) for every i in [0, count) on up to `threads` threads, including this one. If several calls throw, the exception
/// of the smallest i is rethrown, for any number of threads: indices start in order, and a started call always runs to its end.
template <class Work>
void parallel(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::vector<std::exception_ptr> errors(count);
  const auto run = [&] {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t t = 1; t < static_cast<std::size_t>(threads) && t < count; ++t) helpers.emplace_back(run);
    run();
  }
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace ablate
