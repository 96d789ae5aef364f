#include "core/host/scheduler/task_answer.h"

#include <fmt/format.h>

#include "core/shared/task_info.h"

namespace ablate {
namespace {

using nlohmann::json;

/// get() would take 1.5, or 1e300, for an integer.
std::int64_t number(const json& from, const char* name, std::int64_t least) {
  const auto& found = from.at(name);
  if (found.is_number_integer() && found >= least && found <= kMostOfATask) return found;
  throw json::other_error::create(501, fmt::format("{} is {}", name, found.dump()), &from);
}

}  // namespace

TaskAnswer task_answer_from(const json& answer, const json& question) {
  if (answer.contains("failed")) return {.failed = answer.at("failed"), .fault = answer.value("fault", false)};
  TaskAnswer read{.shape = {.length = number(answer, "length", 1),
                            .causal = answer.at("causal"),
                            .holes = answer.at("holes"),
                            .pooled = answer.at("pooled"),
                            .stream = answer.at("stream")},
                  .train_length = number(answer, "train_length", 1)};
  if (question.at("kind") != "prepare-task") return read;
  const auto& sizes = answer.at("sizes");
  read.data = {.digest = answer.at("digest"),
               .train_places = number(answer, "train_places", 0),
               .train = number(sizes, "train", 0),
               .dev = number(sizes, "dev", 0),
               .test = number(sizes, "test", 0)};
  read.shape.padded = question.at("scan_padding") && answer.at("padded");
  return read;
}

}  // namespace ablate
