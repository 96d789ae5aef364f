// Faults in a simulated machine.
#pragma once

#include "tests/host/simulation/world.h"

namespace ablate::simulation {

class Troubles {
 public:
  /// The world must outlive it.
  explicit Troubles(World& world) : world_(world) {}

  /// Makes one fault that the scenario draws, if it can affect anything.
  void one();

 private:
  void happen(Trouble trouble);
  void befall(Trouble trouble, SimulatedScheduler& one);
  double until_s(double least, double most);

  World& world_;
};

}  // namespace ablate::simulation
