// Requests for a checkpoint of a running job.
#include <chrono>
#include <map>
#include <thread>

#include "tests/trial/served.h"

using nlohmann::json;

TEST_CASE("a request for a checkpoint reaches its job once, and no other job") {
  const auto wait = [](const json& spec, const ablate::Say& say) {
    say({{"began", true}});
    for (int tries = 0; tries < spec.at("tries"); ++tries) {
      if (say.asked_to_save()) return say({{"asked", true}, {"twice", say.asked_to_save()}});
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    say({{"asked", false}});
  };
  Served served(Actions({{"wait", wait}}));
  served.start(1, "wait", {{"tries", 3000}});
  served.start(2, "wait", {{"tries", 20}});
  served.send(ablate::SaveCommand{1});
  served.send(ablate::SaveCommand{3});  // there is no such job
  std::map<int, json> last;
  while (last.size() < 2 || last.at(1) == json{{"began", true}} || last.at(2) == json{{"began", true}}) {
    const auto event = served.next();
    if (event.at("event") == "message") last[event.at("job").get<int>()] = event.at("data");
  }
  CHECK(last.at(1) == json{{"asked", true}, {"twice", false}});
  CHECK(last.at(2) == json{{"asked", false}});
}
