// Messages on the channels of workers and trials: each is parsed, or BadMessage is thrown.
#include "core/shared/messages.h"

#include <string>

#include "core/shared/pipe.h"

namespace {

template <class Read>
void read(const Read& one, const nlohmann::json& message) {
  try {
    one(message);
  } catch (const ablate::BadMessage&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = nlohmann::json::parse(data, data + size, nullptr, false);
  if (!message.is_object()) return 0;  // readers of channels check this first
  read(ablate::event_from_json, message);
  read(ablate::command_from_json, message);
  read(ablate::trial_said_from_json, message);
  read(ablate::check_said_from_json, message);
  read([](const auto& one) { ablate::from_json<ablate::TrialJob>(one); }, message);
  read([](const auto& one) { ablate::from_json<ablate::PreparedTask>(one); }, message);
  return 0;
}
