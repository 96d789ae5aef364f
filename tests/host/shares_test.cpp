// Division of a grid into shares, and a share's history on its own machine.
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "core/host/shares/share_files.h"
#include "core/host/shares/shares_plan.h"
#include "core/util/error.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Trials that live as long as this object.
class Grid {
 public:
  const PlannedTrial* add(const std::string& key, std::int64_t steps, std::int64_t length = 64) {
    auto& trial = trials_.emplace_back();
    trial.label = "of " + key;
    trial.spec.model.layers = 2;
    trial.spec.train.steps = steps;
    trial.spec.train.batch = 8;
    auto& planned = planned_.emplace_back();
    planned.trial = &trial, planned.key = key, planned.length = length;
    all.push_back(&planned);
    return all.back();
  }

  std::vector<const PlannedTrial*> all;

 private:
  std::deque<Trial> trials_;
  std::deque<PlannedTrial> planned_;
};

const std::vector<double> kUnknown(100, std::nan(""));

SharesPlan plan_of(const Grid& grid, int shares) {
  return make_shares("study", grid.all, {kUnknown.begin(), kUnknown.begin() + static_cast<long>(grid.all.size())}, {}, shares);
}

}  // namespace

TEST_CASE("shares have about equal cost, and are the same wherever they are made") {
  std::vector<double> costs;
  for (int i = 0; i < 200; ++i) costs.push_back(1 + (i * 37) % 91);
  const auto given = shared_out(costs, 7);
  CHECK(given == shared_out(costs, 7));
  std::vector<double> loads(7);
  for (std::size_t i = 0; i < costs.size(); ++i) loads.at(static_cast<std::size_t>(given[i])) += costs[i];
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  CHECK(*most - *least <= 91);  // this method guarantees a difference of at most one trial's cost
  CHECK(*most / *least < 1.02);
  CHECK(shared_out({5, 5, 5}, 2) == std::vector{0, 1, 0});  // trials of equal cost keep their order
  CHECK(shared_out({1, 9, 1, 1}, 2) == std::vector{1, 0, 1, 1});
  CHECK(shared_out({1}, 3) == std::vector{0});
  CHECK(shared_out({}, 3).empty());
}

TEST_CASE("costs in a history scale the estimates; a done trial is in no share, and each key in one share") {
  Grid grid;
  grid.add("a", 100);
  grid.add("b", 200);
  grid.add("c", 400, 128);
  grid.add("b", 200);
  CHECK(estimated_cost(*grid.all[2]) == 8 * estimated_cost(*grid.all[0]));
  const auto plan = make_shares("study", grid.all, {30, std::nan(""), std::nan(""), std::nan("")}, {"a"}, 2);
  REQUIRE(plan.trials.size() == 3);
  CHECK(plan.trials[0].share == SharedTrial::kDoneBefore);
  CHECK(plan.trials[1].cost == Approx(60));
  CHECK(plan.trials[2].cost == Approx(240));
  CHECK(plan.trials[1].share != plan.trials[2].share);
  CHECK(plan.trials[2].share == 0);  // the most expensive trial comes first
}

TEST_CASE("a share's name has its number and the number of shares") {
  const auto names = share_names("3,0,11/16");
  REQUIRE(names);
  CHECK(names->indexes == std::vector{3, 0, 11});
  CHECK(names->shares == 16);
  CHECK(share_names("0/1")->indexes == std::vector{0});
  for (const char* wrong : {"", "3", "16/16", "-1/4", "1/0", "1/", "/4", "1,/4", "1,1/4", "1/4/5", "a/4", "1 /4", "1/999999999",
                            "0x1/4", "1.0/4", "99999999999999999999/4"})
    CHECK(!share_names(wrong));
}

TEST_CASE("a plan is read back unchanged, and selects a share's trials in the grid's order") {
  TemporaryFolder folder;
  Grid grid;
  for (int i = 0; i < 20; ++i) grid.add("key" + std::to_string(i), 10 + i);
  const auto plan = plan_of(grid, 3);
  write_shares(folder / "plan.json", plan);
  const auto read = read_shares(folder / "plan.json");
  CHECK(digest_of(read) == digest_of(plan));
  CHECK(read.experiment == "study");
  std::set<const PlannedTrial*> all;
  for (int share = 0; share < 3; ++share) {
    const auto trials = trials_of(read, share, grid.all, folder / "plan.json");
    const auto place = [&](const auto* trial) { return std::find(grid.all.begin(), grid.all.end(), trial); };
    CHECK(std::is_sorted(trials.begin(), trials.end(), [&](auto* a, auto* b) { return place(a) < place(b); }));
    all.insert(trials.begin(), trials.end());
  }
  CHECK(all.size() == 20);
  CHECK(digest_of(plan_of(grid, 4)) != digest_of(plan));
}

TEST_CASE("a plan of another study, or a file that is no plan, is refused with the difference") {
  TemporaryFolder folder;
  Grid grid, more;
  for (auto* one : {&grid, &more}) one->add("a", 1), one->add("b", 2);
  more.add("c", 3);
  const auto file = folder / "plan.json";
  CHECK(error_of([&] { trials_of(plan_of(grid, 2), 0, more.all, file); }) ==
        file.string() +
            " does not belong to this study as it is now: it lacks of c (c). The study, its data or the code has changed: "
            "write a new plan, on the machine that the shares run on.");
  CHECK(says(error_of([&] { trials_of(plan_of(more, 2), 0, grid.all, file); }), "the study has no of c (c)"));
  const std::string good = R"({"ablate-shares": 1, "experiment": "e", "shares": 2, "trials": []})";
  CHECK(read_shares(folder.write("good.json", good)).shares == 2);
  for (
      const std::string wrong :
      {"", "[]", "nothing", R"({"ablate-shares": 2, "experiment": "e", "shares": 2, "trials": []})",
       R"({"ablate-shares": 1, "experiment": "e", "shares": 0, "trials": []})",
       R"({"ablate-shares": 1, "experiment": "e", "shares": 2, "trials": [{"key": "k", "label": "l", "cost": 1, "share": 2}]})",
       R"({"ablate-shares": 1, "experiment": "e", "shares": 2, "trials": [{"key": "k", "label": "l", "share": 1}]})",
       R"({"ablate-shares": 1, "experiment": "e", "shares": "2", "trials": []})"})
    CHECK(says(error_of([&] { read_shares(folder.write("wrong.json", wrong)); }), "expected a plan as `ablate run"));
  CHECK(says(error_of([&] { read_shares(folder / "none.json"); }), "cannot read"));
}

TEST_CASE("a share's folder on a machine is private, and is removed with the last run that needs it") {
  TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  unsetenv("SLURM_TMPDIR");
  const auto shared = folder / "lm.shares";
  std::filesystem::path history;
  {
    ShareFolder one(shared, 3);
    history = one.history();
    CHECK(history.parent_path().parent_path() == folder.path());
    std::ofstream(history) << "rows";
  }
  CHECK(std::filesystem::exists(history));  // not copied yet
  {
    ShareFolder first(shared, 3), other(shared, 4);
    {
      ShareFolder second(shared, 3);
      CHECK(second.history() == history);
      second.is_copied();
    }
    CHECK(std::filesystem::exists(history));  // the first run still needs it
    first.is_copied();
  }
  CHECK(!std::filesystem::exists(history));
  CHECK(ShareFolder(folder / "other.shares", 3).history() != history);

  const auto place = history.parent_path();
  std::filesystem::remove_all(place);
  std::filesystem::create_directory_symlink(folder.path(), place);
  CHECK(says(error_of([&] { ShareFolder(shared, 3); }), "expected a folder of this user with mode 700"));
  std::filesystem::remove(place);
  std::filesystem::create_directory(place);
  chmod(place.c_str(), 0755);
  CHECK(says(error_of([&] { ShareFolder(shared, 3); }), "expected a folder of this user with mode 700"));
  setenv("TMPDIR", (folder / "nowhere").c_str(), 1);
  CHECK(says(error_of([&] { ShareFolder(shared, 3); }), "Set $SLURM_TMPDIR or $TMPDIR to another folder"));
  unsetenv("TMPDIR");
}

TEST_CASE("the recorded end of a share counts only for its own plan") {
  TemporaryFolder folder;
  ShareEnd end;
  const auto file = end_of_share(folder.path(), 2);
  CHECK(!read_end(file, "plan", end));
  write_end(file, {7, 1, "plan"});
  REQUIRE(read_end(file, "plan", end));
  CHECK(end.done == 7);
  CHECK(end.failed == 1);
  CHECK(!read_end(file, "another", end));
  folder.write("share-2.end", "{}");
  CHECK(!read_end(file, "plan", end));
}
