// What one job of a worker says until it ends, and what that comes to. Torch-free.
#pragma once

#include <nlohmann/json.hpp>

namespace ablate {

class JobAnswer {
 public:
  /// @param timeout_s what the job was given
  explicit JobAnswer(double timeout_s) : timeout_s_(timeout_s) {}

  /// The data of each "message" event, in order.
  void hear(const nlohmann::json& data) { (data.contains("crashed") ? crash_ : last_) = data; }

  /// @param ended the "ended" event
  /// @return the last message, or {"failed": reason, "fault": bool} however it ended; the fault is true where it is a plugin's
  /// (a crash, a hang, an answer that cannot be), and false where the job threw and said why. A hang has "late": true as well.
  nlohmann::json end(const nlohmann::json& ended) const;

 private:
  double timeout_s_;
  nlohmann::json last_, crash_;
};

}  // namespace ablate
