// Work in a thread of its own, as a host may make an instance in one and call it from another.
#pragma once

#include <exception>
#include <optional>
#include <thread>
#include <utility>

namespace ablate {

/// What `act` gives in a new thread, which has ended; what it throws is thrown here.
template <class Act>
auto in_thread(const Act& act) {
  std::optional<decltype(act())> result;
  std::exception_ptr thrown;
  std::thread([&] {
    try {
      result.emplace(act());
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
  return std::move(*result);
}

}  // namespace ablate
