#include "core/trial/conformance/engine/subject.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <exception>
#include <optional>
#include <thread>

namespace ablate {
namespace {

/// Returns the result of `act` in a new thread, and joins the thread. Rethrows the exception of `act`.
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

/// Checks that a run does not change torch's number of threads, which affects the bits of later results. Restores the number.
void keeps_threads(const std::function<Run()>& make, const std::string& where, Finding& finding) {
  const int before = at::get_num_threads();
  int found[2] = {};
  for (const int given : {1, 2}) {  // a plugin may itself set either number
    at::set_num_threads(given);
    make()();
    found[given - 1] = at::get_num_threads();
  }
  at::set_num_threads(before);
  for (const int given : {1, 2})
    if (found[given - 1] != given)
      finding.off_by(kWrong,
                     fmt::format("{}: torch computes with {} threads after it, and with {} before (at::set_num_threads)", where,
                                 found[given - 1], given));
}

}  // namespace

std::vector<std::int64_t> Subject::lengths(const std::vector<std::int64_t>& at_least) const {
  std::vector<std::int64_t> all;
  for (const auto each : at_least) all.push_back(each > 0 ? length(each) : 0);
  return all;
}

std::vector<at::ScalarType> Subject::types() const {
  if (!full()) return {kDouble};
  if (!promises().half_precision) return {kDouble, kFloat};
  return {kDouble, kFloat, at::kHalf, at::kBFloat16};
}

void same_in_threads(const std::function<Run()>& make, const std::string& where, Finding& finding) {
  keeps_threads(make, where, finding);
  const auto here = make()();
  const auto made = make(), made_there = in_thread(make);
  finding.near(in_thread(made), here, where + ", made in one thread and called from another", kRounding);
  finding.near(made_there(), here, where + ", made in a thread that has ended", kRounding);
}

}  // namespace ablate
