// Output of Slurm's commands, and decisions that follow from this output. tests/slurm uses the real commands.
#include "core/host/slurm/submission.h"
#include "core/util/command.h"
#include "core/util/error.h"
#include "tests/support/catch.h"
#include "tests/support/set_clock.h"
#include "tests/support/temporary.h"

using namespace ablate;
using namespace ablate::slurm;

namespace {

/// Returns the time in seconds at which a job's end is reported as near, or -1 if it is never reported. The clock advances
/// second by second.
double reported_at(const std::function<std::optional<double>(double)>& left_after, double until_s, int* asked = nullptr) {
  SetClock clock;
  clock.now = 1000;
  double reported_s = -1;
  int asks = 0;
  TimeLimit limit(
      [&] {
        ++asks;
        return left_after(clock.now - 1000);
      },
      [&](double) { reported_s = clock.now - 1000; }, clock);
  for (; clock.now - 1000 < until_s && reported_s < 0; clock.now += 1) limit.look();
  limit.look();
  if (asked != nullptr) *asked = asks;
  return reported_s;
}

}  // namespace

TEST_CASE("times are read as squeue prints them") {
  CHECK(seconds_in("1-02:03:04") == 93784);
  CHECK(seconds_in("02:03:04\n") == 7384);
  CHECK(seconds_in(" 3:04 ") == 184);
  CHECK(seconds_in("0:07") == 7);
  for (const char* none : {"UNLIMITED", "INVALID", "NOT_SET", "", "Partition_Limit", "-1:00", "x-1:00"})
    CHECK(!seconds_in(none));
}

TEST_CASE("a job's end is recognised by the time that is left, whatever the job's length") {
  const auto job_of = [](double whole_s) { return [=](double after) { return std::optional(whole_s - after); }; };
  CHECK(reported_at(job_of(60), 100) == 40);  // Slurm's shortest time limit
  CHECK(reported_at(job_of(300), 400) == 280);
  CHECK(reported_at(job_of(1200), 2000) == 1140);     // when a twentieth of the limit is left
  CHECK(reported_at(job_of(86400), 90000) == 86280);  // when two minutes are left
  CHECK(reported_at([](double) { return std::optional<double>(); }, 5000) == -1);
  // Slurm fails to answer once.
  CHECK(reported_at([](double after) { return after < 1 ? std::nullopt : std::optional(120 - after); }, 200) == 100);
  int asked = 0;
  CHECK(reported_at([](double after) { return std::optional((after > 400 ? 7200 : 3600) - after); }, 9000, &asked) == 7080);
  CHECK(asked < 60);  // the limit was extended
  CHECK(reported_at([](double after) { return std::optional((after > 100 ? 1000 : 7200) - after); }, 9000) ==
        880);  // the limit was shortened
}

TEST_CASE("the fate of a stopped task follows from Slurm's state of the job") {
  const std::string job = "JobId=7 ArrayJobId=5 ArrayTaskId=2 JobName=a JobState=";
  CHECK(next_of(job + "RUNNING Reason=None Requeue=1", "OFF") == Next::kRequeue);
  CHECK(next_of(job + "RUNNING PreemptTime=None", "REQUEUE") == Next::kRequeue);
  CHECK(next_of(job + "RUNNING PreemptTime=2026-11-26T10:00:00", "REQUEUE") == Next::kBySlurm);
  CHECK(next_of(job + "RUNNING PreemptTime=2026-11-26T10:00:00", "CANCEL") == Next::kSubmit);
  CHECK(next_of(job + "PREEMPTED PreemptTime=2026-11-26T10:00:00", "CANCEL") == Next::kSubmit);
  CHECK(next_of(job + "CANCELLED PreemptTime=None", "CANCEL") == Next::kNothing);
  CHECK(next_of(job + "COMPLETING Reason=None", "CANCEL") == Next::kNothing);
  CHECK(next_of(job + "COMPLETING Reason=TimeLimit", "CANCEL") == Next::kTimedOut);
  CHECK(value_in("A=1 Partition=gpu PreemptMode=REQUEUE", "PreemptMode") == "REQUEUE");
  CHECK(value_in("XPreemptMode=1", "PreemptMode").empty());
}

TEST_CASE("the queue is read with one task a line") {
  const auto tasks =
      queued_in("5|0|RUNNING|None\n5|1|PENDING|Resources\n9|N/A|CANCELLED|None\n5|2|CANCELLED|None\nnonsense\n\n");
  REQUIRE(tasks.size() == 4);
  CHECK(tasks[2].task == QueuedTask::kAll);  // an array that was cancelled before it began
  CHECK(tasks[1].reason == "Resources");
  CHECK(tasks[0].is_live());
  CHECK(tasks[1].is_live());
  CHECK(!tasks[3].is_live());
  CHECK(standing_of(&tasks[0], "time-limited") == "running");  // the task was requeued since
  CHECK(standing_of(&tasks[1], "") == "queued (Resources)");
  CHECK(standing_of(&tasks[3], "") == "cancelled");
  CHECK(standing_of(nullptr, "requeued") == "lost");
  CHECK(standing_of(nullptr, "done") == "done");
  CHECK(standing_of(nullptr, "") == "lost");
  const QueuedTask over{"5", 0, "TIMEOUT", ""}, gone{"5", 0, "NODE_FAIL", ""}, ended{"5", 0, "COMPLETED", ""};
  CHECK(standing_of(&over, "") == "time-limited");
  CHECK(standing_of(&gone, "") == "lost");
  CHECK(standing_of(&ended, "failed") == "failed");
}

TEST_CASE("each task takes its shares as listed in the script, and a shell reads the script as intended") {
  const auto shares = dealt({0, 2, 3, 7, 9}, 2);
  CHECK(shares.at(0) == std::vector{0, 3, 9});
  CHECK(shares.at(1) == std::vector{2, 7});
  TemporaryFolder folder;
  const auto file = folder.write("a.sh", script({"--mem=4G"}, shares, 12, {"echo", "it's; $HOME", "--set", "a=[1, 2]"}));
  setenv("SLURM_ARRAY_TASK_ID", "1", 1);
  const auto ended = run_command({"sh", file.string()});
  CHECK(ended.out == "it's; $HOME --set a=[1, 2] --share 2,7/12\n");
  setenv("SLURM_ARRAY_TASK_ID", "5", 1);
  CHECK(run_command({"sh", file.string()}).exit_code == 2);
  unsetenv("SLURM_ARRAY_TASK_ID");
  CHECK(read_text(file).find("#SBATCH --mem=4G\n") != std::string::npos);
}

TEST_CASE("submitted jobs and their ends are stored in the shared folder") {
  TemporaryFolder folder;
  CHECK(submissions(folder.path()).empty());
  remember(folder.path(), {"10", {{0, {0, 2}}, {1, {1}}}});
  remember(folder.path(), {"9", {{3, {5}}}});
  const auto all = submissions(folder.path());
  REQUIRE(all.size() == 2);
  CHECK(all[0].job == "9");
  CHECK(all[1].shares.at(0) == std::vector{0, 2});
  CHECK(end_of(folder.path(), "10", 1).empty());
  say_end(folder.path(), "10", 1, "done");
  CHECK(end_of(folder.path(), "10", 1) == "done");
  CHECK(new_script(folder.path()).filename() == "array-1.sh");
  folder.write("jobs/11.json", "{");
  CHECK_THROWS_AS(submissions(folder.path()), Error);
}

TEST_CASE("a task of an array reports its own number, not the number of the array") {
  setenv("SLURM_JOB_ID", "5", 1);
  CHECK(own_job() == "5");
  setenv("SLURM_ARRAY_JOB_ID", "5", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  CHECK(own_job() == "5_3");
  for (const char* name : {"SLURM_JOB_ID", "SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"}) unsetenv(name);
  CHECK(own_job().empty());
}

TEST_CASE("one process submits for a shared folder at a time") {
  TemporaryFolder folder;
  {
    const Submitting one(folder.path());
    CHECK_THROWS_AS(Submitting(folder.path()), Error);
  }
  const Submitting other(folder.path());
}

TEST_CASE("a program is run for its output, and ended after its time limit") {
  const auto said = run_command({"sh", "-c", "echo out; echo wrong >&2; exit 3"});
  CHECK(said.out == "out\n");
  CHECK(said.why == "wrong");
  CHECK(said.exit_code == 3);
  CHECK(run_command({"sh", "-c", "kill -9 $$"}).exit_code == 137);
  CHECK(run_command({"no-such-program-of-ours"}).exit_code == -1);
  CHECK(!run_command({"no-such-program-of-ours"}).why.empty());
  const auto late = run_command({"sh", "-c", "sleep 60 & sleep 60"}, 0.3);
  CHECK(late.exit_code == -1);
  CHECK(late.why == "no answer in time");
  CHECK(run_command({"sh", "-c", "sleep 60 & echo done"}, 30).out == "done\n");  // a process left behind still has the pipe
  const auto much = run_command({"sh", "-c", "yes | head -c 3000000; yes >&2 | head -c 1 & sleep 0.1; kill $!"}, 30);
  CHECK(much.out.size() == 3000000);
}
