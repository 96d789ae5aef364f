#include "core/trial/conformance/likely_cause.h"

#include <ATen/Context.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/trial/conformance/attention_subject.h"
#include "core/trial/conformance/compression_pass.h"

namespace ablate {
namespace {

constexpr std::ptrdiff_t kHandful = 5;
constexpr std::size_t kCalls = 4;

using Given = std::vector<Tensor>;

/// Bit by bit, so that NaN is itself.
bool same(const Given& one, const Given& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const Tensor& a, const Tensor& b) {
    if (!a.defined() || !b.defined()) return a.defined() == b.defined();
    const auto bits = [](const Tensor& x) {
      const auto whole = x.contiguous();
      return whole.scalar_type() == kDouble ? whole.view(kLong) : whole;
    };
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() && bits(a).equal(bits(b));
  });
}

/// Torch's own allocator, but that memory holds a number of 8 bytes again and again where nobody has written yet.
class Filled final : public c10::Allocator {
 public:
  Filled(c10::Allocator& own, double number) : own_(own), number_(number) {}
  c10::DataPtr allocate(std::size_t bytes) override {
    auto memory = own_.allocate(bytes);
    for (std::size_t at = 0; at < bytes; at += sizeof number_)
      std::memcpy(static_cast<char*>(memory.get()) + at, &number_, std::min(sizeof number_, bytes - at));
    return memory;
  }
  c10::DeleterFnPtr raw_deleter() const override { return own_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { own_.copy_data(to, from, bytes); }

 private:
  c10::Allocator& own_;
  double number_;
};

/// All that a plugin may see besides what it is given.
struct Surroundings {
  std::uint64_t torch = 1;
  unsigned c = 1;
  double unwritten = 0;

  void set() const {
    auto global = at::globalContext().defaultGenerator(c10::kCPU);
    global.set_current_seed(torch);
    std::srand(c);
  }
};

/// What `act` gives where memory is filled so.
template <class Act>
auto with_filled(double number, const Act& act) {
  auto* const own = c10::GetCPUAllocator();
  static std::map<double, Filled> all;  // for good: a tensor that outlives the call knows where it is from
  auto& filled = all.try_emplace(number, *own, number).first->second;
  struct Back {
    c10::Allocator* own;
    ~Back() { c10::SetCPUAllocator(own); }
  } back{own};
  c10::SetCPUAllocator(&filled);
  return act();
}

/// Of a new instance.
Given made_anew(const ProbeMake& make, const Surroundings& around) {
  return with_filled(around.unwritten, [&] {
    around.set();
    const auto call = make();
    around.set();
    return call(false);
  });
}

std::vector<Given> calls_of(const ProbeMake& make) {
  const Surroundings around;
  return with_filled(around.unwritten, [&] {
    around.set();
    const auto call = make();
    std::vector<Given> all;
    for (std::size_t i = 0; i < kCalls; ++i) {
      around.set();
      all.push_back(call(false));
    }
    return all;
  });
}

/// Whether the instance gives something else where its input lies elsewhere, and the same where it lay.
bool sees_addresses(const ProbeMake& make) {
  const Surroundings around;
  around.set();
  const auto call = make();
  const auto at = [&](bool elsewhere) {
    around.set();
    return call(elsewhere);
  };
  return with_filled(around.unwritten, [&] {
    const auto here = at(false), there = at(true), back = at(false);
    return !same(here, there) && same(here, back);
  });
}

ProbeMake attention_probe(const Candidate& candidate) {
  return [subject = AttentionSubject(candidate, Depth::kSmall)]() -> ProbeCall {
    constexpr std::int64_t kTokens = 24;
    struct One {
      std::shared_ptr<Instance> instance;
      Pass pass;
    };
    std::vector<One> all;
    for (const auto& stand : subject.promised_stands())
      for (const bool training : {false, true}) {
        const auto n = subject.length(kTokens);
        One one{subject.make(1, Setting{stand, kDouble, training}), Pass{random_tokens(2, n, 2)}};
        if (subject.promises().key_padding) one.pass.mask = padding_mask({n, subject.length(kTokens / 2)}, n);
        if (training)
          for (const std::int64_t step : {1, 2, 100}) one.instance->on_step(step);
        all.push_back(std::move(one));
      }
    return [all](bool elsewhere) {
      Given given;
      for (const auto& [instance, usual] : all) {
        auto pass = usual;
        if (elsewhere) pass.queries = usual.queries.clone();
        if (elsewhere && usual.mask.defined()) pass.mask = usual.mask.clone();
        given.push_back(real(run(*instance, pass), pass.mask).detach());
        if (!instance->is_training()) continue;
        const auto found = gradients(*instance, pass, pass.mask);
        given.insert(given.end(), found.tensors.begin(), found.tensors.end());
      }
      return given;
    };
  };
}

ProbeMake compression_probe(const Candidate& candidate) {
  return [subject = CompressionSubject(candidate, Depth::kSmall)]() -> ProbeCall {
    using namespace conformance;
    const auto in = inputs_of(subject.length(24), subject.lengths({24, 12}));
    std::vector<CompressionInstance> all;
    for (const bool training : {false, true}) {
      all.push_back(subject.make({subject.usual(), kDouble, training}));
      if (training)
        for (const std::int64_t step : {1, 2, 100}) all.back().on_step(step);
    }
    return [all, in](bool elsewhere) {
      const NoGradGuard none;
      auto given_in = in;
      if (elsewhere) given_in = {in.queries.clone(), in.keys.clone(), in.values.clone(), in.mask.clone()};
      Given given;
      for (const auto& instance : all) {
        const auto registered = contents(instance);
        const auto before = copies(registered);
        const auto memory = write(instance, given_in);
        for (const auto& one : named(memory)) given.push_back(one.value);
        given.push_back(read(instance, given_in.queries, memory, Similarity::kSoftmax));
        for (std::size_t i = 0; i < before.size(); ++i) registered[i].copy_(before[i]);
      }
      return given;
    };
  };
}

}  // namespace

bool has_failed_often(const Checks& checks) {
  return std::count_if(checks.all().begin(), checks.all().end(), [](const Check& check) { return check.failed(); }) >= kHandful;
}

std::string likely_cause(const ProbeMake& make, const std::string& draw_from) {
  const auto first = made_anew(make, {});
  if (same(made_anew(make, {}), first)) {
    // Each alone is another; and back again, so that it is not the number of times that it was tried.
    const auto matters = [&](const Surroundings& other) {
      return !same(made_anew(make, other), first) && same(made_anew(make, {}), first);
    };
    if (matters({.torch = 2}))
      return "it draws from torch's global generator: set to one seed it gives the same, to another something else; draw "
             "from " +
             draw_from;
    if (matters({.c = 2}))
      return "it draws from rand(): after srand(1) it gives the same, after srand(2) something else; draw from " + draw_from;
    if (matters({.unwritten = 1}))
      return "it reads memory that nobody has written: with other numbers in new memory it gives something else; fill what "
             "empty() gives before it is read";
  }
  const auto one = calls_of(make), other = calls_of(make);
  const bool moves = std::any_of(one.begin() + 1, one.end(), [&](const Given& given) { return !same(given, one.front()); });
  if (moves && std::equal(one.begin(), one.end(), other.begin(), same))
    return "it counts its calls, or keeps something of them: of one input and one seed the second call gives something else "
           "than "
           "the first, and so it does in each new instance; keep nothing from call to call";
  if (moves)
    return "each call gives something else, of one input, by one seed, in one state of torch's global generator: it counts its "
           "calls in a static variable, or draws from a source of its own, such as a clock; draw from " +
           draw_from;
  if (sees_addresses(make))
    return "it depends on where its input lies in memory: a copy of it gives something else, the same tensor again the same; "
           "compare contents, and no addresses (data_ptr, a tensor's identity)";
  if (!same(one.front(), other.front()) || !same(made_anew(make, {}), first))
    return "two instances of one seed differ in one state of torch's global generator, each the same at every call: it counts "
           "instances, or draws where it is made from an address, a clock or another source of its own; draw from " +
           draw_from;
  return "";
}

std::string likely_cause(const Candidate& candidate) try {
  return candidate.kind == Kind::kAttention
             ? likely_cause(attention_probe(candidate), "the input's generator, in the factory from the context's")
             : likely_cause(compression_probe(candidate), "the input's generator, in the factory from the context's");
} catch (const std::exception&) {
  return "";
}

}  // namespace ablate
