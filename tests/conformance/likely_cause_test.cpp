// What a dozen failed checks have in common: shown by trying, named in the last line, and left out where nothing was shown.
#include "core/trial/conformance/likely_cause.h"

#include <cstdlib>

#include "ablate/headwise.h"
#include "core/trial/conformance/suite.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

enum class Cause { kNone, kGlobal, kRand, kCalls, kStatic, kInstances, kAddress, kUnwritten, kMask };

/// Another factor for each cause, or nearly.
class Shifted {
 public:
  explicit Shifted(Cause cause) : cause_(cause) {
    static std::int64_t made = 0;
    if (cause_ == Cause::kInstances) factor_ = 1 + 0.01 * static_cast<double>(++made);
  }
  Tensor operator()(const Tensor& x, const Tensor& given) {
    static std::int64_t calls = 0;
    switch (cause_) {
      case Cause::kGlobal:
        return x * empty({1}, x.options().requires_grad(false)).uniform_(1, 2);
      case Cause::kRand:
        return x * (1 + static_cast<double>(std::rand() % 1000) / 1000);  // NOLINT: what is tried
      case Cause::kCalls:
        return x * (1 + 0.01 * static_cast<double>(++calls_));
      case Cause::kStatic:
        return x * (1 + 0.01 * static_cast<double>(++calls));
      case Cause::kInstances:
        return x * factor_;
      case Cause::kAddress:
        return x * (1 + static_cast<double>(reinterpret_cast<std::uintptr_t>(given.data_ptr()) % 65521) * 1e-6);
      case Cause::kUnwritten:
        return x * (1 + empty({96}, x.options().requires_grad(false)).ne(0).to(x.scalar_type()).mean());
      default:
        return x;
    }
  }

 private:
  Cause cause_;
  double factor_ = 1;
  std::int64_t calls_ = 0;
};

template <Cause cause>
class Caused final : public HeadwiseAttention {
 public:
  explicit Caused(const AttentionContext& context) : HeadwiseAttention(context, 2), shifted_(cause) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) * 0.3;
    if (input.mask.defined() && cause != Cause::kMask)
      scores = scores.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(1), -1e30);
    return {.values = shifted_(scores.softmax(-1).matmul(input.v), input.queries)};
  }
  Shifted shifted_;
};

template <Cause cause>
class CausedMeans final : public tests::Means {
 public:
  explicit CausedMeans(const CompressionContext& context) : Means(context), shifted_(cause) {}

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    memory.values = shifted_(memory.values, input.keys);
    return memory;
  }
  Shifted shifted_;
};

template <Cause cause>
const Descriptor& attention() {
  static const Descriptor made =
      tests::attention_of<Caused<cause>>({.id = "caused",
                                          .version = "1.0.0",
                                          .summary = "of a test",
                                          .capabilities = {.key_padding = true, .memory_exponent = 2}});
  return made;
}

template <Cause cause>
std::string of_attention() {
  return likely_cause(tests::candidate_of(attention<cause>()));
}
template <Cause cause>
std::string of_compression() {
  return likely_cause(tests::candidate_of(*tests::variant<CausedMeans<cause>>()));
}

/// What the whole of a quick suite concludes.
std::string concluded(const Descriptor& plugin, std::size_t& failed) {
  Checks checks;
  check_plugin({.plugin = plugin, .quick = true}, checks);
  failed = 0;
  for (const auto& check : checks.all()) failed += check.failed() ? 1 : 0;
  return checks.likely();
}

}  // namespace

TEST_CASE("the likely cause is found by trying", "[conformance][cause]") {
  keep_freed_memory();  // as a check does
  const auto says = tests::check_mentions;
  CHECK(of_attention<Cause::kNone>().empty());
  CHECK(of_attention<Cause::kMask>().empty());
  says(of_attention<Cause::kGlobal>(), "it draws from torch's global generator");
  says(of_attention<Cause::kRand>(), "it draws from rand()");
  says(of_attention<Cause::kCalls>(), "it counts its calls, or keeps something of them");
  says(of_attention<Cause::kStatic>(), "in a static variable");
  says(of_attention<Cause::kInstances>(), "it counts instances");
  // Memory that is filled lies elsewhere, which by chance is all that this one looks at: once in some hundred processes.
  const auto by_address = [](const std::string& cause) {
    INFO(cause);
    CHECK((cause.find("where its input lies in memory") != std::string::npos ||
           cause.find("memory that nobody has written") != std::string::npos));
  };
  by_address(of_attention<Cause::kAddress>());
  // What freed memory holds is not always the filling allocator's to say: then each call is all that can be shown.
  const auto unwritten = of_attention<Cause::kUnwritten>();
  INFO(unwritten);
  CHECK((unwritten.find("memory that nobody has written") != std::string::npos ||
         unwritten.find("each call gives something else") != std::string::npos));
  CHECK(of_compression<Cause::kNone>().empty());
  says(of_compression<Cause::kGlobal>(), "it draws from torch's global generator");
  says(of_compression<Cause::kCalls>(), "it counts its calls, or keeps something of them");
  by_address(of_compression<Cause::kAddress>());
}

TEST_CASE("a cause is named where a handful of checks fail, and it was shown", "[conformance][cause]") {
  std::size_t failed = 0;
  tests::check_mentions(concluded(attention<Cause::kCalls>(), failed), "it counts its calls");
  CHECK(failed >= 5);
  CHECK(concluded(attention<Cause::kMask>(), failed).empty());
  INFO(failed);
  CHECK(failed >= 2);
  Checks few;
  for (int i = 0; i < 4; ++i) few.run("padding", "", kExact, [](Finding&) { throw std::runtime_error("wrong"); });
  CHECK_FALSE(has_failed_often(few));
  few.run("padding", "", kExact, [](Finding&) { throw std::runtime_error("wrong"); });
  CHECK(has_failed_often(few));
}
