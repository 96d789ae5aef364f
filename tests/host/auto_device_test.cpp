// train.device = "auto" is replaced by a real device before trials are made: keys, labels and rules never contain "auto".
#include "tests/host/studies.h"
#include "tests/support/catch.h"

namespace {

const std::string kBase = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"linear\"\n";

struct Machine {
  std::string kind;
  int asked = 0;
};

std::vector<std::string> devices(Machine& machine, const std::string& text, const std::vector<std::string>& overrides = {}) {
  const studies::Folder folder;
  std::vector<std::string> all;
  for (const auto& trial : ablate::load_study(folder.write(kBase + text), overrides, studies::catalog(), [&] {
                             ++machine.asked;
                             return machine.kind;
                           }).trials)
    all.push_back(trial.spec.train.device);
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("auto stands for the kind of device that the machine has, and the machine is queried once") {
  for (const auto& [said, overrides] :
       {std::pair{std::string("[train]\ndevice = \"auto\"\n"), Names{}}, {"", Names{"train.device=auto"}}}) {
    Machine with{"cuda"}, without{"cpu"};
    CHECK(devices(with, said, overrides) == Names{"cuda"});
    CHECK(devices(without, said, overrides) == Names{"cpu"});
    CHECK(with.asked == 1);
  }
  Machine machine{"cuda"};
  CHECK(devices(machine, "[grid]\ntrain.device = [\"auto\", \"cpu\"]\n") == Names{"cuda", "cpu"});
  CHECK(machine.asked == 1);
  CHECK(devices(machine,
                "[grid]\ntrain.device = [\"auto\", \"cpu\"]\nseeds = 2\nexclude = [{ train.device = \"auto\", seed = 2 }]\n") ==
        Names{"cuda", "cpu", "cpu"});
  CHECK(studies::load(kBase, {"train.device=auto"}).trials[0].resolved() == studies::load(kBase).trials[0].resolved());
}

TEST_CASE("a study without auto does not query the machine") {
  Machine machine{"cuda"};
  CHECK(devices(machine, "") == Names{"cpu"});
  CHECK(devices(machine, "[train]\ndevice = \"cuda:1\"\n") == Names{"cuda:1"});
  CHECK(machine.asked == 0);
}

TEST_CASE("an axis with auto and with the device that replaces it is refused, because it makes one trial twice") {
  Machine machine{"cpu"};
  CHECK_THROWS_WITH(devices(machine, "[grid]\ntrain.device = [\"auto\", \"cpu\"]\n"),
                    Catch::Contains("this gives the same trial as"));
}
