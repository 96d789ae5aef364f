// What goes wrong in a simulated machine.
#pragma once

#include "tests/host/simulation/world.h"

namespace ablate::simulation {

class Troubles {
 public:
  /// @param world outlives it
  explicit Troubles(World& world) : world_(world) {}

  /// One that the scenario draws, where there is anybody whom it can befall.
  void one();

 private:
  void happen(Trouble trouble);
  void befall(Trouble trouble, SimulatedScheduler& one);
  double until_s(double least, double most);

  World& world_;
};

}  // namespace ablate::simulation
