// The kernels of segment means, on a CPU or a device, compared with means in float64.
#include "core/kernels/cuda/segment_means.h"

#include "tests/cuda/heads.h"
#include "tests/support/catch.h"

using namespace ablate::kernels::cuda;

namespace {

struct Case {
  std::int64_t batch, heads, tokens, length;
  int d;
  bool masked;
};

const Case kCases[] = {{2, 2, 1, 1, 1, false},   {1, 2, 63, 4, 17, true},     {2, 1, 64, 8, 64, false},
                       {2, 2, 65, 16, 16, true}, {1, 1, 127, 200, 128, true}, {1, 3, 1000, 3, 5, false},
                       {0, 2, 10, 2, 3, true},   {1, 2, 0, 2, 3, false}};

template <class T>
void check(const Case& c, double most) {
  INFO(c.tokens << " tokens by " << c.length);
  const auto slots = (c.tokens + c.length - 1) / c.length;
  Numbers<T> x(c.batch, c.heads, c.tokens, c.d, true), means(c.batch, c.heads, slots, c.d, true),
      d_means(c.batch, c.heads, slots, c.d, false), dx(c.batch, c.heads, c.tokens, c.d, true);
  x.fill(1), d_means.fill(2);
  Vector<unsigned char> mask(static_cast<std::size_t>(c.batch * c.tokens));
  const auto counts = [&](std::int64_t b, std::int64_t t) {
    return !c.masked || mask[static_cast<std::size_t>(b * c.tokens + t)] != 0;
  };
  for (std::int64_t i = 0; i < c.batch * c.tokens; ++i) mask[static_cast<std::size_t>(i)] = i % 3 != 0 && i / 8 % 4 != 1;
  x.each([&](auto b, auto h, auto t, auto y) {
    if (!counts(b, t)) set_value(x.data[x.index(b, h, t, y)], NAN);  // masked tokens may have any content
  });
  Exact exact(c.batch, c.heads, slots, c.d), d_exact(c.batch, c.heads, c.tokens, c.d);
  Vector<float> mass(static_cast<std::size_t>(c.batch * slots), NAN);
  std::vector<float> tokens_of(mass.size());
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t t = 0; t < c.tokens; ++t) tokens_of[static_cast<std::size_t>(b * slots + t / c.length)] += counts(b, t);
  x.each([&](auto b, auto h, auto t, auto y) {
    if (!counts(b, t)) return;
    const auto piece = t / c.length;
    const double by = tokens_of[static_cast<std::size_t>(b * slots + piece)];
    exact.at(b, h, piece, y) += x.at(b, h, t, y) / by;
    d_exact.at(b, h, t, y) = d_means.at(b, h, piece, y) / by;
  });
  const SegmentMeans<T> call{
      {c.batch, c.heads, c.tokens}, c.length, c.d, c.masked ? reinterpret_cast<const bool*>(mask.data()) : nullptr};
  REQUIRE(after(segment_means(call, x.read(), means.view(), mass.data(), stream())) == nullptr);
  CHECK(same_bits(mass, tokens_of));
  REQUIRE(after(segment_means_backward(call, d_means.read(), nullptr, dx.view(), stream())) == nullptr);
  CHECK(worst(means, exact) < most);
  CHECK(worst(dx, d_exact) < most);
  const auto counted = dx.data;
  REQUIRE(after(segment_means_backward(call, d_means.read(), mass.data(), dx.view(), stream())) == nullptr);
  CHECK(same_bits(dx.data, counted));
  for (auto& one : mass) one *= 2;  // shows that the kernel reads the mass
  REQUIRE(after(segment_means_backward(call, d_means.read(), mass.data(), dx.view(), stream())) == nullptr);
  dx.each([&](auto b, auto h, auto t, auto y) {
    CHECK(2 * dx.at(b, h, t, y) == static_cast<double>(value_of(counted[dx.index(b, h, t, y)])));
  });
  REQUIRE(after(segment_means(call, x.read(), means.view(), nullptr, stream())) == nullptr);
  CHECK(worst(means, exact) < most);
  CHECK((means.gaps_untouched() && dx.gaps_untouched()));
}

}  // namespace

TEST_CASE("segment means and their gradients use only the tokens that count", "[segment_means]") {
  for (const auto& c : kCases) check<float>(c, 1e-6), check<Bf16>(c, 1e-2);
}

TEST_CASE("segment means report sizes that the kernel does not support", "[segment_means]") {
  SegmentMeans<float> call{{1, 1, 1}, 0, 1, nullptr};
  CHECK(std::string(segment_means(call, {}, {}, nullptr, nullptr)) == "segment means: expected segments of 1 token or more");
  call.d = 0;
  CHECK(std::string(segment_means_backward(call, {}, nullptr, {}, nullptr)) ==
        "segment means: found a size below 0, no head or no channel");
}
