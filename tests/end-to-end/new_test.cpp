// Refusals of ablate new: the message has the reason and the remedy, and no file is written.
#include "tests/end-to-end/stranger.h"

namespace {

Ended make(const Stranger& stranger, const std::string& arguments) {
  return stranger.shell(ABLATE_BUILD_DIR "/bin/ablate new " + arguments);
}

}  // namespace

TEST_CASE("ablate new refuses names that would not work", "[new]") {
  Stranger stranger;
  const auto [arguments, reason] = GENERATE(table<std::string, std::string>({
      {"attention My_Attention", "(did you mean my-attention?)"},
      {"attention MyAttention", "(did you mean my-attention?)"},
      {"attention 2d", "the first a letter"},
      {"attention a--b", "(did you mean a-b?)"},
      {"attention ../up", "(did you mean up?)"},
      {"attention -- --", "expected at most 64 lower-case letters"},
      {"attention " + std::string(65, 'a'), "at most 64"},
      {"task test", "try my-test"},
      {"attention softmax", "/softmax.so; choose another name"},
      {"atention mine", "expected attention, compression or task (did you mean attention?)"},
      {"task mine --cuda", "--cuda: found the kind task, expected attention"},
      {"task mine --in nowhere", "--in nowhere: no such folder"},
  }));
  const auto ended = make(stranger, arguments);
  INFO(arguments << ": " << ended.err);
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, reason));
  CHECK(std::filesystem::is_empty(stranger.work()));
}

TEST_CASE("ablate new does not change an existing folder, and accepts an id that only another kind has", "[new]") {
  Stranger stranger;
  std::filesystem::create_directories(stranger.work() / "there/softmax");
  const auto ended = make(stranger, "task softmax --in there");
  CHECK(ended.exit_code == 2);
  CHECK(says(ended.err, "there/softmax already exists"));
  CHECK(std::filesystem::is_empty(stranger.work() / "there/softmax"));
  CHECK(make(stranger, "task softmax").exit_code == 0);
  CHECK(says(read_text(stranger.work() / "softmax/softmax.cpp"), "{.id = \"softmax\""));
}
