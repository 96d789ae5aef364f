// Effects of jobs on their worker, and protection of other jobs. (Jobs of plugins: tests/end-to-end, tests/faulty.)
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "tests/support/process.h"
#include "tests/support/temporary.h"
#include "tests/trial/served.h"

using nlohmann::json;

namespace {

constexpr std::size_t kMiB = 1 << 20;

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Returns the write end of the pipe for a job's messages: the highest descriptor above 2 that writes to a pipe.
int channel() {
  for (int descriptor = 63; descriptor > 2; --descriptor) {
    char target[64] = {};
    const auto link = "/proc/self/fd/" + std::to_string(descriptor);
    if (readlink(link.c_str(), target, sizeof(target) - 1) > 0 && std::string(target).starts_with("pipe:") &&
        (fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_WRONLY)
      return descriptor;
  }
  return -1;
}

/// Writes directly to the pipes, as a plugin that guesses a descriptor could do.
void write_raw(const std::string& text) {
  // The pipe of stdout has a second descriptor, next to the descriptor of the messages' pipe. This loop writes to both pipes;
  // text in stdout's pipe counts as output.
  for (int descriptor = channel(); descriptor > 2; --descriptor)
    if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_WRONLY) [[maybe_unused]]
      const auto written = write(descriptor, text.data(), text.size());
}

bool runs(const std::string& command) { return Process({"pgrep", "-fx", command}).wait().exit_code == 0; }

/// Starts a daemon that starts a daemon, and so on. The last daemon runs `sleep SECONDS`, which runs() finds.
void leave_behind(int generations, const char* seconds) {
  if (fork() != 0) return;
  setsid();
  if (generations > 0) {
    nap(0.02);
    leave_behind(generations - 1, seconds);
    _exit(0);
  }
  execlp("sleep", "sleep", seconds, nullptr);
  _exit(1);
}

}  // namespace

TEST_CASE("all of a job's output is read, and only its tail is stored") {
  Served served(Actions({{"print", [](const json& spec, const ablate::Say& say) {
                            const std::string much(kMiB, 'p');
                            for (int i = 0; i < spec.at("mib").get<int>(); ++i)
                              std::fwrite(much.data(), 1, much.size(), stdout);
                            std::fputs("the end", stdout);
                            say({{"printed", spec.at("mib")}});
                          }}}));
  served.start(1, "print", {{"mib", 1024}});
  served.start(2, "print", {{"mib", 0}});
  std::map<int, json> ended;
  std::vector<int> order;
  while (ended.size() < 2) {
    const auto event = served.next();
    if (event.at("event") == "message") order.push_back(event.at("job"));
    if (event.at("event") == "ended") ended[event.at("job")] = event;
  }
  CHECK(order == std::vector<int>{2, 1});  // a job that prints much does not block the other
  const std::string much = ended[1].at("output"), little = ended[2].at("output");
  CHECK(ended[1].at("status") == 0);
  CHECK(much == std::string(8192 - 7, 'p') + "the end");
  CHECK(little == "the end");
  CHECK(static_cast<std::size_t>(served.end().ru_maxrss) * 1024 < 512 * kMiB);  // the limit has room for a sanitizer's memory
}

TEST_CASE("output longer than the tail goes to a file, up to a limit; no fault of a file fails a job") {
  Served served(Actions({{"print", [](const json& spec, const ablate::Say& say) {
                            for (int i = 0; i < spec.at("lines").get<int>(); ++i) std::printf("line %6d\n", i);
                            say({{"done", true}});
                          }}}));
  const TemporaryFolder folder;
  folder.write("taken", "");
  const auto end_of = [&](int job, int lines, const std::string& file) {
    served.start(job, "print", {{"lines", lines}}, 0, (folder / file).string());
    const auto ended = served.end_of(job);
    CHECK(ended.at("status") == 0);
    CHECK(ended.at("printed") == 12 * lines);
    return ended;
  };
  const auto stored = [&](const std::string& file) { return read_text(folder / file); };

  CHECK(end_of(1, 600, "new/short.txt").at("unkept") == "");  // the tail has all of the output
  CHECK_FALSE(std::filesystem::exists(folder / "new"));

  const std::string tail = end_of(2, 5000, "new/whole.txt").at("output");
  const auto whole = stored("new/whole.txt");
  CHECK(whole.size() == 60000);
  CHECK(whole.starts_with("line      0\nline      1\n"));
  CHECK(whole.ends_with(tail));
  CHECK(tail.size() == 8192);

  CHECK(end_of(3, 1'000'000, "new/cut.txt").at("unkept") == "");
  const auto cut = stored("new/cut.txt");
  CHECK(cut.size() == 10'000'000);
  CHECK(cut.substr(9'999'984) == "line 833332\nline");

  CHECK(end_of(4, 5000, "taken/no.txt").at("unkept") != "");
  CHECK(end_of(5, 5000, "new/whole.txt").at("unkept") == "File exists");  // never overwrites another file
  CHECK(stored("new/whole.txt") == whole);
}

TEST_CASE("text that a job writes directly into the channel of results is no result, and ends the job") {
  Served served(Actions({{"write",
                          [](const json& spec, const ablate::Say& say) {
                            say({{"step", 1}});
                            write_raw(spec.at("text").get<std::string>());
                            nap(60);
                          }},
                         {"flood",
                          [](const json&, const ablate::Say&) {
                            const std::string much(kMiB, 'x');
                            for (;;) write_raw(much);
                          }},
                         {"speak", [](const json&, const ablate::Say& say) {
                            say({{"answer", 42}});
                          }}}));
  int job = 0;
  for (const auto* text : {"{\"results\": {\"test/accuracy\": 100}}\n", "garbage\n", "\n", "123456[]\n"}) {
    INFO(text);
    served.start(++job, "write", {{"text", text}});
    const auto ended = served.end_of(job);
    CHECK(ended.at("said") == json::parse(R"([{"step": 1}])"));  // messages before the intrusion are delivered
    CHECK(ended.at("intrusion").get<std::string>().find("into the channel that the host keeps for results") !=
          std::string::npos);
    CHECK(WIFSIGNALED(ended.at("status").get<int>()));
  }
  served.start(++job, "flood");
  CHECK(served.end_of(job).at("intrusion").get<std::string>().find("16 MiB without a line end") != std::string::npos);
  served.start(++job, "speak");
  const auto ended = served.end_of(job);
  CHECK(ended.at("said") == json::parse(R"([{"answer": 42}])"));
  CHECK(ended.at("intrusion") == "");
  served.end();
}

TEST_CASE("a job that closes its pipes and continues causes no busy loop") {
  Served served(Actions({{"close", [](const json&, const ablate::Say&) {
                            close(STDOUT_FILENO), close(STDERR_FILENO);
                            closefrom(3);
                            nap(1.5);
                          }}}));
  served.start(1, "close");
  CHECK(served.end_of(1).at("status") == 0);
  const auto used = served.end();
  const double cpu_s = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  CHECK(cpu_s < 0.75);  // a worker in a busy loop would have used all of the 1.5 s
}

TEST_CASE("a job is killed at its time limit, by its own worker's clock, unless it has already ended") {
  const auto nap_for = [](const json& spec, const ablate::Say& say) {
    nap(spec.at("s"));
    say({{"results", 1}});
  };
  Served served(Actions({{"nap", nap_for}}));
  served.start(1, "nap", {{"s", 60}}, 0.3);
  const auto late = served.end_of(1);
  CHECK(late.at("late") == true);
  CHECK(WTERMSIG(late.at("status").get<int>()) == SIGKILL);
  // The worker itself is stopped until after the limit, and the job ends meanwhile.
  served.start(2, "nap", {{"s", 0.3}}, 1);
  nap(0.1);
  kill(served.pid(), SIGSTOP);
  nap(1.5);
  kill(served.pid(), SIGCONT);
  const auto ended = served.end_of(2);
  CHECK(ended.at("late") == false);
  CHECK(ended.at("status") == 0);
  CHECK(ended.at("said").size() == 1);
  // The time in which the worker is stopped does not count for the job.
  served.start(3, "nap", {{"s", 4.5}}, 3);
  nap(0.5);
  kill(served.pid(), SIGSTOP);
  nap(3.5);
  kill(served.pid(), SIGCONT);
  CHECK(served.end_of(3).at("late") == false);
  served.end();
}

TEST_CASE("a scheduler that does not read blocks no job") {
  const auto file = TemporaryFolder();
  const auto done = (file / "done").string();
  Served served(Actions({{"speak", [&](const json&, const ablate::Say& say) {
                            const std::string much(kMiB, 'm');
                            for (int i = 0; i < 32; ++i) say({{"much", much}});
                            close(open(done.c_str(), O_CREAT | O_WRONLY, 0600));
                          }}}));
  served.start(1, "speak");
  for (int i = 0; i < 400 && access(done.c_str(), F_OK) != 0; ++i) nap(0.025);
  CHECK(access(done.c_str(), F_OK) == 0);  // nothing has been read yet
  CHECK(served.end_of(1).at("said").size() == 32);
  served.end();
}

TEST_CASE("unread messages for a scheduler are bounded: then jobs wait, and nothing is lost") {
  const TemporaryFolder folder;
  const auto count = (folder / "count").string();
  Served served(Actions({{"speak", [&](const json&, const ablate::Say& say) {
                            const std::string much(kMiB, 'm');
                            const int file = open(count.c_str(), O_CREAT | O_WRONLY, 0600);
                            for (int i = 0; i < 96 && (i == 0 || write(file, "x", 1) == 1); ++i) say({{"much", much}});
                          }}}));
  served.start(1, "speak");
  const auto said = [&] { return std::filesystem::exists(count) ? std::filesystem::file_size(count) : 0; };
  for (std::uintmax_t before = 1, i = 0; i < 60 && (said() < 60 || said() != before); ++i) before = said(), nap(0.25);
  CHECK(said() >= 60);
  CHECK(said() < 70);
  CHECK(served.end_of(1).at("said").size() == 96);
  served.end();
}

TEST_CASE("no process of a job outlives it, not even a chain of daemons") {
  Served served(Actions({{"leave",
                          [](const json&, const ablate::Say&) {
                            leave_behind(3, "97531");
                            nap(0.05);
                          }},
                         {"stay", [](const json&, const ablate::Say& say) {
                            leave_behind(1, "97532");
                            nap(0.2);
                            say({{"left", true}});
                            nap(60);
                          }}}));
  served.start(1, "leave");
  CHECK(served.end_of(1).at("status") == 0);
  nap(0.2);
  CHECK_FALSE(runs("sleep 97531"));
  served.start(2, "stay");
  CHECK(served.next().at("event") == "message");
  CHECK(runs("sleep 97532"));
  served.end();  // also at the end of the server
  CHECK_FALSE(runs("sleep 97532"));
}

TEST_CASE("a job's standard input is empty, and its first file is not a standard stream") {
  const auto look = [](const json&, const ablate::Say& say) {
    char byte;
    const auto got = read(STDIN_FILENO, &byte, 1);
    const int first = open("/dev/zero", O_RDONLY);
    say({{"got", got}, {"first", first}});
  };
  Served served(Actions({{"look", look}}), {}, true);
  served.start(1, "look");
  const auto said = served.end_of(1).at("said")[0];
  CHECK(said.at("got") == 0);
  CHECK(said.at("first").get<int>() > 2);
  served.end();
}

TEST_CASE("without free descriptors a job is not started, and other jobs continue") {
  const auto nap_for = [](const json& spec, const ablate::Say&) { nap(spec.at("s")); };
  Served served(Actions({{"nap", nap_for}}), [] {
    rlimit few{64, 64};
    setrlimit(RLIMIT_NOFILE, &few);
  });
  const int most = served.ready.at("most_jobs");
  CHECK(most >= 5);
  CHECK(most <= 20);
  for (int job = 1; job <= 40; ++job) served.start(job, "nap", {{"s", 0.5}});
  int refused = 0, done = 0;
  while (refused + done < 40) {
    const auto event = served.next();
    if (event.at("event") != "ended") continue;
    if (event.contains("not_started")) {
      ++refused;
      CHECK(event.at("not_started").get<std::string>().find("Too many open files") != std::string::npos);
    } else {
      ++done;
      CHECK(event.at("status") == 0);
    }
  }
  CHECK(done >= most);
  CHECK(refused > 0);
  served.start(41, "nap", {{"s", 0}});
  CHECK(served.end_of(41).at("status") == 0);
  served.send(ablate::PingCommand());
  CHECK(served.next().at("event") == "pong");
  served.end();
}
