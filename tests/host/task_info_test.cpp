// Invalid descriptions that a task may give.
#include "core/shared/task_info.h"

#include "tests/support/catch.h"

using ablate::fault_of;

namespace {

ablate::TaskInfo info() { return {.fields = {{.name = "symbol", .vocabulary = 5}}, .length = 8, .classes = 2}; }

std::string fault_of_metric(const char* name, const char* direction) {
  auto said = info();
  said.metrics = {{name, "", direction, "its own"}};
  return fault_of(said);
}

}  // namespace

TEST_CASE("a task's metric must not have a name that the host writes, and must be a valid column name") {
  CHECK(fault_of(info()).empty());
  CHECK(fault_of_metric("depth", "max").empty());
  CHECK(fault_of_metric("depth", "").empty());
  for (const char* name : {"accuracy", "sequence_accuracy", "loss", "perplexity", "bits_per_byte", "best_step"}) {
    INFO(name);
    CHECK_THAT(fault_of_metric(name, "max"), Catch::Contains("that the host writes itself"));
  }
  for (const char* name : {"", "Depth", "Best_step", "deep est", "depth/2", "depth@x=1"}) {
    INFO(name);
    CHECK_THAT(fault_of_metric(name, "max"), Catch::Contains("expected a name in snake_case"));
  }
  CHECK_THAT(fault_of_metric("depth", "up"), Catch::Contains("expected a name in snake_case, max, min or \"\""));
  auto twice = info();
  twice.metrics = {{"depth", "", "max", "its own"}, {"depth", "", "min", "its own"}};
  CHECK_THAT(fault_of(twice), Catch::Contains("that the task declares twice"));
}

TEST_CASE("a task's metric must not have the host's name for bits of the task's unit") {
  auto said = info();
  said.objective = ablate::Objective::kPositions;
  said.unit = "pixel";
  CHECK(fault_of(said).empty());
  said.metrics = {{"bits_per_pixel", "bit", "min", "its own"}};
  CHECK_THAT(fault_of(said), Catch::Contains("that the host writes itself"));
}
