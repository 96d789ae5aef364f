// Clock for code that waits or reads the time. Tests can replace it.
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

namespace ablate {

class Clock {
 public:
  Clock() = default;
  virtual ~Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  /// Seconds since a fixed moment; never goes back.
  virtual double now_s() const = 0;
  /// Microseconds since 1970, UTC.
  virtual std::int64_t since_1970_us() const = 0;
  virtual void wait(double seconds) = 0;
};

inline Clock& machine_clock() {
  class Machine final : public Clock {
   public:
    double now_s() const override {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    std::int64_t since_1970_us() const override {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    }
    void wait(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
  };
  static Machine machine;
  return machine;
}

}  // namespace ablate
