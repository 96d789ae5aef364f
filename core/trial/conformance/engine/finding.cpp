#include "core/trial/conformance/engine/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ablate/tensor_operators.h"

namespace ablate {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

std::string shape_of(const Tensor& x) {
  if (!x.defined()) return "nothing";
  std::string text;
  for (const auto size : x.sizes()) text += (text.empty() ? "[" : ", ") + std::to_string(size);
  return text.empty() ? "[]" : text + "]";
}

/// Returns a flat index as text: "item 1, position 7, channel 3" if x is [batch, n, channels], "item 1, head 0, row 7,
/// channel 3" if x is [batch, heads, n, channels], else "[1, 7]".
std::string place_of(const Tensor& x, std::int64_t flat) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(x.dim()));
  for (auto i = index.size(); i-- > 0;) {
    index[i] = flat % x.size(static_cast<std::int64_t>(i));
    flat /= x.size(static_cast<std::int64_t>(i));
  }
  if (index.size() == 3) return fmt::format("item {}, position {}, channel {}", index[0], index[1], index[2]);
  if (index.size() == 4) return fmt::format("item {}, head {}, row {}, channel {}", index[0], index[1], index[2], index[3]);
  std::string text;
  for (const auto at : index) text += (text.empty() ? "[" : ", ") + std::to_string(at);
  return text.empty() ? "" : text + "]";
}

std::string at_place(const std::string& where, const std::string& place) {
  return where + (where.empty() || place.empty() ? "" : ", ") + place;
}

/// Returns the value with four digits. The sign of a NaN means nothing.
std::string text_of(double value) { return std::isnan(value) ? "nan" : fmt::format("{:.4g}", value); }

double number(const Tensor& x, std::int64_t flat) { return x.detach().reshape({-1})[flat].to(kDouble).item().toDouble(); }

/// Returns a copy to compare with: float64 on the CPU, from any device.
Tensor plain(const Tensor& x) { return x.detach().to(c10::kCPU).to(kDouble); }

}  // namespace

bool Finding::is_worse(double error, Allowed allowed) {
  if (excuse_.error > allowed.error && (allowed.error > 0 || is_exact())) {
    needed_excuse_ = needed_excuse_ || !(error <= allowed.error);
    allowed = excuse_;
  }
  const double over = std::isnan(error) ? kInfinite : allowed.error > 0 ? error / allowed.error : error > 0 ? kInfinite : 0;
  // The first of two faults without a measure is more useful.
  if (over <= over_ && !(over == kInfinite && error > error_ && std::isfinite(error_) && !std::isfinite(error))) return false;
  over_ = over;
  error_ = std::isnan(error) ? kInfinite : error;
  worst_allowed_ = allowed;
  return true;
}

void Finding::near(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed) {
  if (!found.defined() && !expected.defined()) return;
  if (!found.defined() || !expected.defined() || found.sizes() != expected.sizes()) {
    if (is_worse(kInfinite, allowed))
      place(at_place(where, ""), fmt::format("shape {}, expected {}", shape_of(found), shape_of(expected)));
    return;
  }
  if (found.numel() == 0) return;
  const auto right = plain(expected), apart = (plain(found) - right).abs();
  const auto flat = apart.reshape({-1}).argmax().item().toLong();  // the first NaN, if there is one
  const double size = std::max(1.0, right.abs().max().item().toDouble());
  if (is_worse(number(apart, flat) / size, allowed))
    place(at_place(where, place_of(apart, flat)),
          text_of(number(found, flat)) + (std::isnan(number(expected, flat))
                                              ? ", expected a number, but the other value is not a number either"
                                              : ", expected " + text_of(number(expected, flat))));
}

void Finding::near(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, const std::string& where) {
  if (found.size() != expected.size() && is_worse(kInfinite, allowed_))
    place(at_place(where, ""), fmt::format("{} tensors, expected {}", found.size(), expected.size()));
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    near(found[i], expected[i], found.size() == 1 ? where : fmt::format("{} {}", where, i));
}

void Finding::near(const std::vector<Named>& found, const std::vector<Named>& expected, const std::string& where,
                   const Allowed& allowed) {
  if (found.size() != expected.size() && is_worse(kInfinite, allowed))
    place(at_place(where, ""), fmt::format("{} results, expected {}", found.size(), expected.size()));
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i)
    near(found[i].value, expected[i].value, at_place(where, expected[i].what), allowed);
}

void Finding::near_median(const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& allowed,
                          double floor) {
  if (!found.sizes().equals(expected.sizes())) return near(found, expected, where, allowed);
  if (expected.numel() == 0) return;
  const auto right = plain(expected), size = right.abs();
  // The median alone is no scale if most numbers are 0, as in a gradient that cancels: the other numbers are only rounding.
  const double scale = std::max({size.median().item().toDouble(), size.mean().item().toDouble(), floor});
  off_by((plain(found) - right).abs().median().item().toDouble() / scale, where + ": the median", allowed);
}

void Finding::nearest(const std::string& where, const Allowed& allowed,
                      const std::function<void(std::uint64_t seed, Finding& now)>& look) {
  Finding least(allowed);
  for (std::uint64_t seed = 1; seed <= 3 && !(seed > 1 && least.passed()); ++seed) {
    Finding now(allowed);
    look(seed, now);
    if (seed == 1 || now.over_ < least.over_) least = std::move(now);
  }
  if (least.looked() && is_worse(least.error_, least.worst_allowed_)) place(at_place(where, least.where_), least.numbers_);
}

void Finding::finite(const Tensor& numbers, const std::string& where) {
  const auto bad = numbers.detach().isfinite().logical_not().reshape({-1});
  if (!bad.any().item().toBool()) return saw();
  if (!is_worse(kInfinite, allowed_)) return;
  const auto flat = bad.to(kLong).argmax().item().toLong();
  place(at_place(where, place_of(numbers, flat)), text_of(number(numbers, flat)) + ", expected a finite number");
}

void Finding::finite(const std::vector<Tensor>& numbers, const std::string& where) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    finite(numbers[i], numbers.size() == 1 ? where : fmt::format("{} {}", where, i));
}

void Finding::finite(const std::vector<Named>& results, const std::string& where) {
  for (const auto& [what, value] : results) finite(value, where + ", " + what);
}

void Finding::off_by(double off, const std::string& where, const Allowed& allowed) {
  if (is_worse(off, allowed)) place(where);
}

void Finding::say(const std::string& note) {
  if (note_.find(note) == std::string::npos) note_ += (note_.empty() ? "" : "; ") + note;
}

void Finding::leave(const std::string& why) {
  if (std::find(left_.begin(), left_.end(), why) == left_.end()) left_.push_back(why);
}

std::string Finding::text() const {
  std::string text = over_ <= 0              ? "as it should be"
                     : std::isfinite(error_) ? fmt::format("off by {:.2g}, {:.2g} allowed", error_, tolerance())
                                             : "wrong";
  // A passed finding shows no numbers, because a user would take them for a fault.
  const auto numbers = passed() ? std::string() : numbers_;
  if (!passed() || over_ > 0)
    for (const auto* part : {&where_, &numbers})
      if (!part->empty()) text += ": " + *part;
  return note_.empty() ? text : text == "as it should be" ? note_ : text + "; " + note_;
}

}  // namespace ablate
