// Faults outside the usual call: in another thread, or with equally many queries and tokens under separate masks.
#include <ATen/Parallel.h>

#include <thread>

#include "tests/conformance/means.h"

using namespace ablate;
using namespace ablate::tests;

namespace {

thread_local double of_thread = 1;

/// A factor that the factory stores in its thread.
struct ThreadTable : Change {
  explicit ThreadTable(const CompressionContext& context) : Change(context) { of_thread = 0.5; }
  void write(Memory& memory, const WriteInput&, bool) { memory.values = memory.values * (of_thread / 0.5); }
};

/// Doubles the values in training if the thread is not the thread of the factory.
struct Owner : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool training) {
    if (training && std::this_thread::get_id() != owner) memory.values = memory.values * 2;
  }
  std::thread::id owner = std::this_thread::get_id();
};

/// Changes the number of threads and does not restore it.
struct MoreThreads : Change {
  using Change::Change;
  void write(Memory&, const WriteInput&, bool) { at::set_num_threads(7); }
};

bool as_many(const WriteInput& input) {
  return input.query_mask.defined() && input.mask.defined() && input.query_mask.sizes() == input.mask.sizes();
}

/// Uses the queries' mask for the tokens.
class Turned final : public Means {
 public:
  using Means::Means;

 private:
  Memory do_write(const WriteInput& input) override {
    auto other = input;
    if (as_many(input)) other.mask = input.query_mask;
    return Means::do_write(other);
  }
};

/// Shifts slots by the mean query. If `turned`, and there are as many queries as tokens, uses the tokens' mask for the queries.
template <bool turned>
class Pooled final : public Means {
 public:
  using Means::Means;

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    if (!input.queries.defined()) return memory;
    auto mask = input.query_mask;
    if (turned && as_many(input)) mask = input.mask;
    auto share = mask.defined() ? mask.to(input.queries.scalar_type())
                                : ones({input.queries.size(0), input.queries.size(2)}, input.queries.scalar_type());
    share = (share / share.sum(1, true).clamp_min(1)).unsqueeze(1).unsqueeze(-1);
    const auto mean = (clear_padding(input.queries, mask) * share).sum(2, true);
    memory.keys = (memory.keys + mean * 0.1) * (memory.mass > 0).unsqueeze(-1).to(memory.keys.scalar_type());
    return memory;
  }
};

constexpr Capabilities kPooled = {.slots_have_keys = true};

const AddVariants added = {
    {"a factor of the thread", variant<Changed<ThreadTable>>(), "threads"},
    {"more threads", variant<Changed<MoreThreads>>(), "threads"},
    {"a thread that owns the instance", variant<Changed<Owner>>(), "threads"},
    {"the queries' mask for the tokens", variant<Turned>(), "two masks"},
    {"the tokens' mask for the queries", variant<Pooled<true>>(kPooled), "two masks"},
};

}  // namespace

TEST_CASE("compressions without a fault outside the usual call pass", "[conformance]") {
  Record record;
  CHECK(record.suite(*variant<Means>(), {"threads", "two masks"}).empty());
  CHECK(record.suite(*variant<Pooled<false>>(kPooled), {"threads", "two masks", "query mask", "poison"}).empty());
  CHECK(record.ran.size() == 4);
}
