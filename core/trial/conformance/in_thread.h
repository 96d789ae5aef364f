// Work in a thread of its own, as a host may make an instance in one and call it from another; and what becomes of the number
// of threads that torch computes with.
#pragma once

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "core/trial/conformance/finding.h"

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

/// That `act` leaves the number of threads as it was: with another one the rest of a trial has other bits. The number of before
/// is put back.
template <class Act>
void keeps_threads(const Act& act, const std::string& where, Finding& finding) {
  const int before = at::get_num_threads();
  int found[2] = {};
  for (const int given : {1, 2}) {  // one of which it may ask for itself
    at::set_num_threads(given);
    act();
    found[given - 1] = at::get_num_threads();
  }
  at::set_num_threads(before);
  for (const int given : {1, 2})
    if (found[given - 1] != given)
      finding.off_by(std::numeric_limits<double>::infinity(),
                     fmt::format("{}: torch computes with {} threads after it, and with {} before (at::set_num_threads)", where,
                                 found[given - 1], given));
}

}  // namespace ablate
