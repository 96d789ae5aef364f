// Effects of loaded code on the worker's process, and the report of a killed process.
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/trial/served.h"

using nlohmann::json;

namespace {

void nap(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

TEST_CASE("changes that a library makes while it is loaded reach no job") {
  const auto meddle = [] {
    std::fesetround(FE_UPWARD);
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero: like the start-up code of -ffast-math
#endif
    setenv("MKL_CBWR", "COMPATIBLE", 1);
    unsetenv("HOME");
    umask(0777);
    for (const auto which : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_CORE}) {
      rlimit soft{};
      getrlimit(which, &soft);
      soft.rlim_cur = 5;
      setrlimit(which, &soft);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    std::signal(SIGTERM, SIG_IGN);
    alarm(1);
    if (chdir("/") != 0) abort();
  };
  Served served(Actions({{"look",
                          [](const json&, const ablate::Say& say) {
                            volatile double one = 1, three = 3, small = 2.3e-308, ten = 10;
                            const double third = one / three, least = small / ten;
                            struct sigaction term {};
                            sigaction(SIGTERM, nullptr, &term);
                            const auto mask = umask(0);
                            auto limits = json::array();
                            for (const auto which : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_STACK, RLIMIT_CORE}) {
                              rlimit limit{};
                              getrlimit(which, &limit);
                              limits.push_back({limit.rlim_cur, limit.rlim_max});
                            }
                            cpu_set_t processors;
                            sched_getaffinity(0, sizeof(processors), &processors);
                            say({{"third", third},
                                 {"limits", limits},
                                 {"processors", CPU_COUNT(&processors)},
                                 {"least", least > 0},
                                 {"cbwr", getenv("MKL_CBWR") != nullptr},
                                 {"home", getenv("HOME") != nullptr},
                                 {"mask", mask},
                                 {"term", term.sa_handler != SIG_IGN},
                                 {"folder", std::filesystem::current_path().string()}});
                          }}},
                        meddle));
  served.start(1, "look");
  const auto before = served.end_of(1).at("said");
  CHECK(before[0].at("third") == 1.0 / 3);
  CHECK(before[0].at("least") == true);
  served.send(ablate::LoadCommand());
  CHECK(served.next().at("event") == "loaded");
  served.start(2, "look");
  CHECK(served.end_of(2).at("said") == before);
  nap(1.2);  // waits for the alarm
  served.start(3, "look");
  CHECK(served.end_of(3).at("said") == before);
  served.end();
}

TEST_CASE("a library that changes the worker permanently is refused, and the reason names the change") {
  const auto lower = [] {
    rlimit hard{};
    getrlimit(RLIMIT_NOFILE, &hard);
    hard.rlim_cur = hard.rlim_max = 60;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &hard) == 0);
  };
  Served served(Actions({}, lower), [] {
    rlimit more{100, 100};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &more) == 0);
    // Drops root's right to raise limits again.
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2] = {};
    REQUIRE(syscall(SYS_capset, &header, none) == 0);
  });
  served.send(ablate::LoadCommand());
  const auto answer = served.next();
  CHECK(answer.at("event") == "refused");
  CHECK(answer.at("spoilt") == true);
  CHECK(answer.at("code") == 3);
  CHECK(answer.at("reason") ==
        "the loaded code changes the worker for good: the limit of open files (ulimit -n) is 60, and was 100");
  served.end();
}

TEST_CASE("signals to stop are left to the scheduler, but a job may still end itself") {
  Served served(Actions({{"sent",
                          [](const json&, const ablate::Say& say) {
                            for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGXCPU}) {
                              const pid_t job = getpid(), worker = getppid(), sender = fork();
                              if (sender == 0) {
                                for (const auto one : {job, worker}) kill(one, signal);
                                _exit(0);
                              }
                              waitpid(sender, nullptr, 0);
                            }
                            say({{"lives", true}});
                          }},
                         {"raise", [](const json&, const ablate::Say&) { raise(SIGTERM); }},
                         {"alarm", [](const json&, const ablate::Say&) { alarm(1), nap(60); }}}));
  served.start(1, "sent");
  const auto ended = served.end_of(1);
  CHECK(ended.at("status") == 0);
  CHECK(ended.at("said") == json::array({{{"lives", true}}}));
  served.start(2, "raise");
  CHECK(served.end_of(2).at("status") == SIGTERM);
  served.start(3, "alarm");
  CHECK(served.end_of(3).at("status") == SIGALRM);
  served.end();
}

TEST_CASE("the sender of a signal 9 is reported, if known") {
  Served served(Actions({{"die", [](const json&, const ablate::Say&) { raise(SIGKILL); }},
                         {"nap", [](const json&, const ablate::Say&) { nap(60); }},
                         {"crash", [](const json&, const ablate::Say&) { raise(SIGTERM); }}}));
  served.start(1, "die");
  const std::string killed = served.end_of(1).at("killed");
  CHECK(killed.find("memory killer") != std::string::npos);
  CHECK(killed.find("; its peak was ") != std::string::npos);
  served.start(2, "nap", json::object(), 0.1);
  CHECK(served.end_of(2).at("killed") == "");  // killed by the worker, for its time limit
  served.start(3, "crash");
  CHECK(served.end_of(3).at("killed") == "");
  served.end();
}
