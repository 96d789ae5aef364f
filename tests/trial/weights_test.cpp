// Stored weights: the file has the model's best tensors, bit for bit.
#include <ATen/ATen.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "core/trial/training/safetensors.h"
#include "core/util/error.h"
#include "tests/support/temporary.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

struct ReadBack {
  json header;
  std::string data;

  explicit ReadBack(const std::filesystem::path& file) {
    const auto text = read_text(file);
    std::uint64_t length = 0;
    REQUIRE(text.size() > sizeof(length));
    std::memcpy(&length, text.data(), sizeof(length));
    header = json::parse(text.substr(sizeof(length), length));
    data = text.substr(sizeof(length) + length);
  }
  /// @return the bytes of a tensor, row-major
  std::string bytes(const std::string& name) const {
    const std::size_t from = header.at(name).at("data_offsets").at(0), to = header.at(name).at("data_offsets").at(1);
    return data.substr(from, to - from);
  }
};

std::string bytes_of(const at::Tensor& tensor) {
  const auto whole = tensor.detach().contiguous();
  return {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()};
}

}  // namespace

TEST_CASE("each type and shape is written in the format of safetensors") {
  const TemporaryFolder folder;
  const auto file = folder / "new/a.safetensors";
  const auto reals = at::arange(6, at::kFloat).reshape({2, 3});
  const NamedTensors tensors{{"float", reals},
                             {"turned", reals.t()},
                             {"half", reals.to(at::kHalf)},
                             {"bfloat", reals.to(at::kBFloat16)},
                             {"scalar", at::scalar_tensor(3, at::kLong)},
                             {"none", at::zeros({0, 4})},
                             {"bool", reals > 2}};
  write_safetensors(file, tensors);
  const ReadBack back(file);
  CHECK(back.header.at("__metadata__") == json{{"format", "pt"}});
  CHECK(back.header.size() == 1 + tensors.size());
  const std::map<std::string, std::string> types{{"float", "F32"},  {"turned", "F32"}, {"half", "F16"}, {"bfloat", "BF16"},
                                                 {"scalar", "I64"}, {"none", "F32"},   {"bool", "BOOL"}};
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    CHECK(back.header.at(name).at("dtype") == types.at(name));
    CHECK(back.header.at(name).at("shape") == json(tensor.sizes().vec()));
    CHECK(back.header.at(name).at("data_offsets").at(0) == bytes);
    CHECK((back.bytes(name) == bytes_of(tensor)));
    bytes += tensor.nbytes();
  }
  CHECK(back.data.size() == bytes);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "new"), {}) == 1);

  CHECK_THROWS_AS(write_safetensors(folder / "b", {{"complex", reals.to(at::kComplexFloat)}}), Error);
  folder.write("taken", "");
  CHECK_THROWS_AS(write_safetensors(folder / "taken/a", tensors), Error);
}

TEST_CASE("a trial's stored weights are the weights that dev selected, not the last weights") {
  const TemporaryFolder folder;
  // These steps are so large that they destroy what was learned.
  const auto resolved = resolved_trial(
      {{"steps", 100}, {"learning_rate", 0.05}, {"schedule", "constant"}, {"evaluate_every", 5}}, plugin("linear"));
  Majority task;
  TrialParts parts{trial_from_json(resolved), task, find_plugin};
  TrialRun run(parts, [](const Progress&) {});
  const auto result = run.result();
  REQUIRE(result.values.at("dev/best_step") < 100);
  run.write_weights(folder / "w.safetensors");
  const ReadBack back(folder / "w.safetensors");
  std::string best;
  for (const auto& tensor : run.save().best.tensors()) best += bytes_of(tensor);
  REQUIRE(!best.empty());
  CHECK((back.data == best));
  std::int64_t numbers = 0;
  for (const auto& [name, entry] : back.header.items()) {
    if (name == "__metadata__") continue;
    std::int64_t count = 1;
    for (const std::int64_t size : entry.at("shape")) count *= size;
    numbers += count;
  }
  CHECK(numbers >= static_cast<std::int64_t>(result.values.at("model/parameters")));
}
