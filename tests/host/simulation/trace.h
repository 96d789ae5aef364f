// Events of a simulation: all events in a digest, the last events as text.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "tests/support/simulated_clock.h"

namespace ablate::simulation {

class Trace {
 public:
  explicit Trace(const SimulatedClock& clock) : clock_(clock) {}

  /// Adds an event, which must be one line.
  void add(std::string_view text) {
    mix(text);
    last_.push_back(fmt::format("{:10.3f} s  {}", clock_.now_s(), text));
    if (last_.size() > kMost) last_.pop_front();
  }
  /// Adds to the digest only.
  void mix(std::string_view text) {
    mix(clock_.now_s());
    for (const char c : text) mix_byte(static_cast<unsigned char>(c));
  }
  void mix(double value) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const auto byte : bytes) mix_byte(byte);
  }

  std::uint64_t digest() const { return digest_; }
  std::string last() const {
    std::string text;
    for (const auto& line : last_) text += line + "\n";
    return text;
  }

 private:
  static constexpr std::size_t kMost = 60;

  void mix_byte(unsigned char byte) { digest_ = (digest_ ^ byte) * 0x100000001b3U; }  // FNV-1a

  const SimulatedClock& clock_;
  std::uint64_t digest_ = 0xcbf29ce484222325U;
  std::deque<std::string> last_;
};

}  // namespace ablate::simulation
