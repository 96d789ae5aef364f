// gates: prints the host's description of a plugin whose kind a patch adds, and the extensions that its library offers.
#include <iostream>

#include "ablate/gate.h"
#include "core/registry/plugin_info.h"

namespace {

double halved(double number) { return number / 2; }

}  // namespace

ABLATE_GATE(halved, {.id = "halves", .version = "1.0.0", .summary = "halves"})

int main() {
  using namespace ablate;
  const auto& descriptor = *ablate_plugin();
  const auto info = plugin_info_from_json(to_json(describe(descriptor)));
  std::cout << to_text(info.kind) << " " << info.id << ", of " << kind_names() << "; parts: " << kind_names(true) << "\n"
            << extension_of<GateFactory>(descriptor)->weigh(3)
            << "; gate/2: " << (descriptor.extension("ablate.gate/2") == nullptr ? "not offered" : "offered") << "\n";
  auto without = descriptor;
  without.extension = nullptr;
  try {
    describe(without);
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
  }
}
