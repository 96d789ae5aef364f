// Parts of a call on torch's threads, and the sharing of fused forms between threads.
#include <torch/csrc/autograd/autograd.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "ablate/kernel_attention.h"
#include "ablate/torch_parallel.h"
#include "core/kernels/feed_forward.h"
#include "tests/kernels/results.h"
#include "tests/support/other_threads.h"
#include "tests/support/skip.h"

using namespace ablate;
using ablate::test::normal;
using ablate::test::Threads;

namespace {

/// Record of a call: its parts in the order of their ends, and their threads.
struct Ran {
  std::vector<std::int64_t> parts;
  std::set<std::thread::id> threads;
};

Ran ran(std::int64_t parts) {
  Ran all;
  std::mutex one_at_a_time;
  in_parallel(parts, [&](std::int64_t part) {
    const std::scoped_lock lock(one_at_a_time);
    all.parts.push_back(part);
    all.threads.insert(std::this_thread::get_id());
  });
  return all;
}

std::vector<std::int64_t> first(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

const auto kHere = std::this_thread::get_id();

}  // namespace

TEST_CASE("each part runs once, on as many threads as torch has") {
  for (const int threads : {2, 3})
    for (const std::int64_t parts : {2, 3, 4, 7, 100}) {
      INFO(threads << " threads, " << parts << " parts");
      const Threads with(threads);
      auto found = ran(parts);
      std::sort(found.parts.begin(), found.parts.end());
      CHECK(found.parts == first(parts));
      CHECK(found.threads.count(kHere) == 1);
      CHECK(found.threads.size() >= 2);
      CHECK(found.threads.size() <= std::min<std::size_t>(static_cast<std::size_t>(threads), found.parts.size()));
    }
}

TEST_CASE("with one thread, and inside a part, the parts run in order on the calling thread") {
  CHECK(ran(0).parts.empty());
  {
    const Threads with(1);
    CHECK(ran(5).parts == first(5));
    CHECK(ran(5).threads == std::set{kHere});
  }
  const Threads with(2);
  CHECK(ran(1).threads == std::set{kHere});
  std::vector<Ran> inside(2);
  std::vector<std::thread::id> outside(2);
  in_parallel(2, [&](std::int64_t part) {
    const auto i = static_cast<std::size_t>(part);
    outside[i] = std::this_thread::get_id();
    inside[i] = ran(3);
  });
  CHECK(outside[0] != outside[1]);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(inside[i].parts == first(3));
    CHECK(inside[i].threads == std::set{outside[i]});
  }
}

TEST_CASE("a part's exception is rethrown, and the next call runs") {
  for (const int threads : {1, 2})
    for (const std::int64_t bad : {0, 1}) {
      const Threads with(threads);
      CHECK_THROWS_WITH(in_parallel(2,
                                    [&](std::int64_t part) {
                                      if (part == bad) throw std::runtime_error("part " + std::to_string(part));
                                    }),
                        "part " + std::to_string(bad));
      CHECK(ran(2).parts.size() == 2);
    }
}

TEST_CASE("there are at most as many parts as threads and as items, and at least one") {
  const Threads with(2);
  CHECK(parts_for_threads(100) == 2);
  CHECK(parts_for_threads(1) == 1);
  CHECK(parts_for_threads(0) == 1);
}

TEST_CASE("two threads share the fused forms, forward and backward") {
  if (kernels::instructions().empty()) return skip("this processor lacks the instructions that the fused kernels need");
  const Threads with(2);
  const auto x = normal({32, 1024, 64}, 1, 1).requires_grad_();
  const auto weight = [](std::int64_t out, std::int64_t in, std::uint64_t seed) { return normal({out, in}, 0.2, seed); };
  const auto bias = [](std::int64_t channels) { return zeros({channels}); };
  const auto shared = [&](const std::function<Tensor()>& forward) {
    Tensor y;
    CHECK(test::share_of_other_threads([&] { y = forward(); }) > 0.3);
    const auto dy = normal(y.sizes(), 1, 2);
    CHECK(test::share_of_other_threads([&] { torch::autograd::grad({y}, {x}, {dy}); }) > 0.3);
  };
  shared([&] {
    const kernels::FeedForward by{ones({64}), bias(64), weight(256, 64, 3), bias(256), weight(64, 256, 4), bias(64)};
    return kernels::feed_forward(x, by, kernels::Choice::kFused);
  });
  shared([&] {
    const auto by = test::projections_of(
        {weight(64, 64, 3), bias(64), weight(64, 64, 4), bias(64), weight(64, 64, 5), bias(64), weight(64, 64, 6), bias(64)}, 0,
        2);
    return projected_kernel_attention(x, x, {}, by, FeatureMap::kElu, true);
  });
}
