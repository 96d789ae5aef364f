// Work in parallel, the same whatever the number of threads. Torch-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace ablate {

/// Runs work(i) for every i in [0, count) on up to `threads` threads, this one among them. Of the exceptions thrown, the one
/// of the smallest i is thrown again, whatever the number of threads: indices are taken in order, and what is taken is ended.
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
