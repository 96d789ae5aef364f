// Faults in a simulated machine.
#pragma once

#include "tests/host/simulation/world.h"

namespace ablate::simulation {

class Troubles {
 public:
  /// The world must outlive this object.
  explicit Troubles(World& world) : world_(world) {}

  /// Makes the fault that the scenario draws, unless the fault has nothing to affect now.
  void one();

 private:
  void happen(Trouble trouble);
  void befall(Trouble trouble, SimulatedScheduler& one);
  double until_s(double least, double most);

  World& world_;
};

}  // namespace ablate::simulation
