// Smallest task, for fixtures that never use it.
#pragma once

#include "ablate/task.h"

class TrivialTask final : public ablate::Task {
 public:
  explicit TrivialTask(const ablate::TaskContext&) {}
  ablate::TaskInfo info() override { return {.fields = {{.name = "symbol", .vocabulary = 2}}, .length = 1, .classes = 2}; }
  void load() override {}
  std::string digest() const override { return "trivial"; }
  std::int64_t size(ablate::Split) const override { return 1; }
  void read(ablate::Split, std::span<const std::int64_t>, ablate::BatchView batch) const override {
    for (auto& target : batch.targets) target = 0;
  }
  std::string describe(ablate::Split, std::int64_t) const override { return "trivial"; }
};
