// A checkpoint is loaded bit for bit or refused with a reason. The last two files stay. A faulty file never fails the trial.
#include "core/trial/training/checkpoint_file.h"

#include <ATen/ATen.h>
#include <sys/resource.h>

#include <csignal>

#include "core/records/checkpoint_files.h"
#include "core/trial/server/own_checkpoints.h"
#include "core/util/error.h"
#include "core/util/regular_file.h"
#include "tests/support/says.h"
#include "tests/support/temporary.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kKey(64, 'a');

const json kAbout{{"settings", {{"seed", 1}}},
                  {"basis", {{"plugins", {{"attention", "c0de"}}}, {"data", "d"}, {"runtime", 1}, {"torch", "2"}}},
                  {"processor", "a processor"},
                  {"torch", "2"}};

TrainingState some_state() {
  TrainingState state;
  const auto reals = at::arange(6, at::kFloat).reshape({2, 3}) / 7;
  state.training.keep({reals, reals.to(at::kHalf), reals.to(at::kBFloat16), at::scalar_tensor(3, at::kLong), at::zeros({0, 4}),
                       reals > 0.5, reals.to(at::kDouble)});
  state.training.numbers = {{"nan", std::nan("")}, {"third", 1.0 / 3}, {"large", std::uint64_t{1} << 63}, {"text", "é"}};
  state.best.keep({reals * 2});
  return state;
}

std::string bytes_of(const at::Tensor& tensor) { return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()}; }

std::string refusal(const fs::path& file, const json& expected = kAbout) {
  try {
    read_checkpoint(file, expected);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// Limits the size of the files that this process writes, as a full disk does, while this object exists.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

/// Trial of twenty steps. Saves and resumes like a trial's process.
struct Trial20 {
  Majority task;
  TrialParts parts{trial_from_json(resolved_trial({{"steps", 20}, {"evaluate_every", 5}, {"batch", 4}}, plugin("linear"))),
                   task, find_plugin};
  std::vector<TrialSaid> said;
  bool asked = false;
  Say say = [this](const json& message) { said.push_back(trial_said_from_json(message)); };

  Trial20() {
    say.asked_to_save = [this] { return std::exchange(asked, false); };
  }
  /// Runs the trial to a step. Returns its results except times, or {} before step 20.
  std::map<std::string, double> run(const CheckpointPlan& plan, std::int64_t until = 20) {
    said.clear();
    OwnCheckpoints own(plan, say);
    const auto made = own.begin([&] { return std::make_unique<TrialRun>(parts, [](const Progress&) {}); });
    while (made->steps_done() < until) {
      made->advance();
      own.after_step(*made);
    }
    if (until < 20) return {};
    auto values = made->result().values;
    std::erase_if(values, [](const auto& one) {
      return one.first.ends_with("_time") || one.first.ends_with("spread") || one.first.ends_with("per_second");
    });
    return values;
  }
  const Resumed* resumed() const { return said.empty() ? nullptr : std::get_if<Resumed>(&said.front()); }
};

CheckpointPlan plan_in(const TemporaryFolder& folder, const std::string& owner, double every_s = 1e-9, std::int64_t fence = 1) {
  return {.folder = (folder / "c").string(), .owner = owner, .fence = fence, .key = kKey, .every_s = every_s, .about = kAbout};
}

std::vector<std::int64_t> steps_in(const TemporaryFolder& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& file : checkpoint_files(folder / "c", kKey)) steps.push_back(file.step);
  return steps;
}

void damage(const fs::path& file) {
  auto text = read_text(file);
  text[text.size() / 2] = static_cast<char>(text[text.size() / 2] ^ 1);
  REQUIRE(write_anew(file, text));
}

}  // namespace

TEST_CASE("a checkpoint is read back bit for bit") {
  const TemporaryFolder folder;
  const auto state = some_state();
  auto about = kAbout;
  about["step"] = 7;
  write_checkpoint(folder / "new/c", about, state);
  const auto read = read_checkpoint(folder / "new/c", kAbout);
  CHECK(read.about == about);
  for (const auto& [one, other] :
       {std::pair(&state.training, &read.state.training), std::pair(&state.best, &read.state.best)}) {
    const auto before = one->tensors(), after = other->tensors();
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      CHECK((before[i].scalar_type() == after[i].scalar_type()));
      CHECK((before[i].sizes() == after[i].sizes()));
      CHECK((bytes_of(before[i]) == bytes_of(after[i])));
    }
  }
  auto numbers = read.state.training.numbers;
  CHECK(std::isnan(numbers.at("nan").get<double>()));
  auto expected = state.training.numbers;
  numbers.erase("nan"), expected.erase("nan");
  CHECK(numbers == expected);
}

TEST_CASE("a file that is cut off anywhere, or has a bit turned anywhere, is detected") {
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", kAbout, some_state());
  const auto whole = read_text(folder / "c");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE(write_anew(folder / "d", whole.substr(0, size)));
    if (refusal(folder / "d").empty()) FAIL("cut to " << size);
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto turned = whole;
    turned[at] = static_cast<char>(turned[at] ^ (1 << at % 8));
    REQUIRE(write_anew(folder / "d", turned));
    if (refusal(folder / "d").empty()) FAIL("byte " << at);
  }
  REQUIRE(write_anew(folder / "d", whole + "x"));
  CHECK(says(refusal(folder / "d"), "is damaged: found content of the sum "));
  REQUIRE(write_anew(folder / "d", whole));
  CHECK(refusal(folder / "d").empty());
  CHECK(says(refusal(folder / "none"), "cannot read"));
}

TEST_CASE("a file of another version, code, data or settings is refused, and the reason names the difference") {
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", kAbout, some_state());
  auto text = read_text(folder / "c");
  text[std::string("ablate checkpoint ").size()] = '2';
  REQUIRE(write_anew(folder / "d", text));
  CHECK(says(refusal(folder / "d"),
             "another version of its format: found \"ablate checkpoint 2\", expected \"ablate checkpoint 1\""));
  auto other = kAbout;
  other["basis"]["plugins"]["attention"] = "0ther";
  CHECK(says(refusal(folder / "c", other),
             "of another trial: code (found {\"attention\":\"c0de\"}, expected {\"attention\":\"0ther\"})"));
  other = kAbout, other["basis"]["data"] = "e";
  CHECK(says(refusal(folder / "c", other), "data (found \"d\", expected \"e\")"));
  other = kAbout, other["settings"]["seed"] = 2;
  CHECK(says(refusal(folder / "c", other), "settings (found {\"seed\":1}"));
  other = kAbout, other["processor"] = "another";
  CHECK(refusal(folder / "c", other).empty());
}

TEST_CASE("on a full disk the previous file stays, with no partial file") {
  const TemporaryFolder folder;
  write_checkpoint(folder / "f/c", kAbout, some_state());
  const auto before = read_text(folder / "f/c");
  {
    const SmallDisk full(before.size() - 10);
    CHECK_THROWS_WITH(write_checkpoint(folder / "f/c", kAbout, some_state()), Catch::Contains("File too large"));
  }
  CHECK(read_text(folder / "f/c") == before);
  CHECK(std::distance(fs::directory_iterator(folder / "f"), {}) == 1);
}

TEST_CASE("a trial resumes from the latest usable file, and two files stay") {
  const TemporaryFolder folder;
  Trial20 trial;
  const auto whole = trial.run(plan_in(folder, "none", 1e6));
  REQUIRE(whole.size() > 5);
  CHECK(trial.said.empty());
  CHECK(steps_in(folder).empty());
  trial.run(plan_in(folder, "first"), 9);
  CHECK(trial.said.size() == 9);
  CHECK(std::get<Saved>(trial.said.back()) == Saved{9, ""});
  CHECK(steps_in(folder) == std::vector<std::int64_t>{9, 8});
  folder.write("c/first-1-" + std::string(32, 'a') + "-9.checkpoint.77", "of one that was killed");
  folder.write("c/notes.txt", "somebody's");
  SECTION("the latest") {
    CHECK(trial.run(plan_in(folder, "second", 1e6)) == whole);
    REQUIRE(trial.resumed());
    CHECK(trial.resumed()->step == 9);
    CHECK(trial.resumed()->owner == "first");
    CHECK((trial.resumed()->unusable.empty() && trial.resumed()->environments.empty()));
    CHECK((trial.resumed()->wall_s > 0 && trial.resumed()->peak_resident_bytes > 0));
  }
  SECTION("the previous file if the latest is damaged; the trial's own files then replace both") {
    damage(folder / "c" / checkpoint_name("first", 1, kKey, 9));
    trial.run(plan_in(folder, "second"), 10);
    REQUIRE(trial.resumed());
    CHECK(trial.resumed()->step == 8);
    REQUIRE(trial.resumed()->unusable.size() == 1);
    CHECK(says(trial.resumed()->unusable[0], "-9.checkpoint is damaged: found content of the sum "));
    CHECK(steps_in(folder) == std::vector<std::int64_t>{10, 9});
    CHECK(checkpoint_files(folder / "c", kKey).back().owner == "second");
    CHECK(trial.run(plan_in(folder, "third", 1e6)) == whole);
    CHECK(trial.resumed()->step == 10);
  }
  SECTION("no file, if no file can be used") {
    for (const auto& file : checkpoint_files(folder / "c", kKey)) damage(file.path);
    CHECK(trial.run(plan_in(folder, "second", 1e6)) == whole);
    REQUIRE(trial.resumed());
    CHECK((trial.resumed()->step == 0 && trial.resumed()->unusable.size() == 2));
  }
  SECTION("no file of other code") {
    auto plan = plan_in(folder, "second", 1e6);
    plan.about["basis"]["plugins"]["attention"] = "0ther";
    CHECK(trial.run(plan) == whole);
    CHECK(trial.resumed()->step == 0);
    CHECK(says(trial.resumed()->unusable.at(0), "is of another trial: code"));
  }
  SECTION("no file of another model, although its name and beginning match") {
    const auto file = folder / "c" / checkpoint_name("first", 1, kKey, 9);
    write_checkpoint(file, read_checkpoint(file, kAbout).about, some_state());
    CHECK(trial.run(plan_in(folder, "second", 1e6)) == whole);
    CHECK((trial.resumed()->step == 8 && trial.resumed()->unusable.size() == 1));
  }
  SECTION("a file of another processor that lists no environments: the processor is reported") {
    const auto file = folder / "c" / checkpoint_name("first", 1, kKey, 9);
    auto [about, state] = read_checkpoint(file, kAbout);
    about.erase("environments");
    write_checkpoint(file, about, state);
    auto plan = plan_in(folder, "second", 1e6);
    plan.about["processor"] = "another processor";
    trial.run(plan);
    CHECK(json(trial.resumed()->environments).dump() == R"([{"processor":"a processor"}])");
  }
  SECTION("files of other environments: each attempt reports all these environments, even if it is interrupted") {
    const auto found = [&](const char* kernels, const char* variables, std::int64_t until) {
      auto plan = plan_in(folder, "one");
      plan.folder += "2";
      plan.about["environment"] = {{"kernels", kernels}, {"libraries", {{"mkl", "1"}}}, {"variables", json::parse(variables)}};
      trial.run(plan, until);
      return trial.resumed() == nullptr ? "none" : json(trial.resumed()->environments).dump();
    };
    CHECK(found("avx2", R"({"A": "1"})", 3) == "none");
    CHECK(found("avx2", R"({"A": "1"})", 5) == "[]");
    CHECK(found("avx512", R"({"A": "1"})", 7) == R"([{"kernels":"avx2"}])");
    const auto both = R"([{"kernels":"avx512","variables":{"A":"1","B":null}},{"variables":{"A":"1","B":null}}])";
    for (const int until : {9, 10}) CHECK(found("avx2", R"({"B": "2"})", until) == both);
  }
  CHECK(read_text(folder / "c/notes.txt") == "somebody's");
}

TEST_CASE("a trial does not touch the files of a scheduler that took the trial over") {
  const TemporaryFolder folder;
  Trial20 stale, owner;
  stale.run(plan_in(folder, "stale", 1e-9, 1), 5);
  owner.run(plan_in(folder, "owner", 1e-9, 2), 7);
  CHECK(steps_in(folder) == std::vector<std::int64_t>{7, 6});
  stale.run(plan_in(folder, "stale", 1e-9, 1), 12);
  CHECK(steps_in(folder) == std::vector<std::int64_t>{12, 11, 7, 6});
  owner.run(plan_in(folder, "owner", 1e-9, 2), 13);
  CHECK(steps_in(folder) == std::vector<std::int64_t>{13, 12});
}

TEST_CASE("a trial is saved on request; on a full disk it reports why not and continues") {
  const TemporaryFolder folder;
  Trial20 trial;
  const auto whole = trial.run(plan_in(folder, "none", 1e6));
  trial.asked = true;
  trial.run(plan_in(folder, "first", 1e6), 3);
  CHECK(trial.said.size() == 1);
  CHECK(steps_in(folder) == std::vector<std::int64_t>{1});
  const SmallDisk full(1000);
  CHECK(trial.run(plan_in(folder, "second")) == whole);
  CHECK(trial.said.size() == 1 + 19);
  CHECK(std::get<Saved>(trial.said.back()).step == 20);
  CHECK(says(std::get<Saved>(trial.said.back()).failed, "File too large"));
  CHECK(steps_in(folder) == std::vector<std::int64_t>{1});
}
