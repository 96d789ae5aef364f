// Reading of arbitrary files, and the kernel's messages about processes that it killed for memory.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/util/bytes_text.h"
#include "core/util/control_groups.h"
#include "core/util/error.h"
#include "core/util/json_file.h"
#include "core/util/memory_kills.h"
#include "core/util/regular_file.h"
#include "core/util/scratch_folder.h"
#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

TEST_CASE("a pipe, a folder and a device are not read as files and do not block the reader") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const auto& path : {folder / "pipe", folder.path(), fs::path("/dev/zero"), folder / "none"}) {
    INFO(path);
    CHECK_THROWS_AS(RegularFile(path), Error);
    CHECK_THROWS_AS(sha256_file(path), Error);
    CHECK(read_json_file(path).is_discarded());
  }
  CHECK_THROWS_WITH(sha256_file(folder / "pipe"), Catch::EndsWith("it is no regular file, but a pipe, a socket or a device"));
  CHECK(sha256_file(folder.write("file", "abc")) == sha256("abc"));
}

TEST_CASE("a file that is stored replaces any file with the same name, and leaves no other file") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "kept").c_str(), 0600) == 0);
  put_json_file(folder / "kept", {{"a", 1}});
  CHECK(read_json_file(folder / "kept") == nlohmann::json({{"a", 1}}));
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that is too long is reported with its size, and not read") {
  const TemporaryFolder folder;
  const auto file = folder.write("sparse", "x");
  fs::resize_file(file, std::uintmax_t{20} << 30);
  CHECK_THROWS_WITH(sha256_file(file, std::uintmax_t{4} << 30), Catch::EndsWith(": it has 20 GiB, expected at most 4 GiB"));
  CHECK(bytes_text(1) == "1 bytes");
  CHECK(bytes_text(1536) == "1.5 KiB");
}

TEST_CASE("the kernel's counters are evidence of its memory killer") {
  const TemporaryFolder root;
  root.write("proc/vmstat", "nr_free_pages 12\noom_kill 3\nlast 1\n");
  root.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
  auto state = look_at_memory(root.path());
  CHECK(state.killed == 3);
  CHECK(state.killed_in_group == -1);
  CHECK(state.total_bytes == std::int64_t{16} << 30);
  const auto before = state;
  CHECK(killed_text(before, state, 0) ==
        "ablate did not send this signal; usually the kernel's memory killer does, but the kernel counted no kill during the "
        "run");
  state.killed = 4;
  CHECK(killed_text(before, state, std::int64_t{15} << 30) ==
        "the kernel's memory killer ended 1 process of this machine during the run; its peak was 15 GiB of 16 GiB");
  SECTION("version 2") {
    root.write("proc/self/cgroup", "0::/mine\n");
    root.write("sys/fs/cgroup/mine/memory.events", "low 0\noom 7\noom_kill 2\n");
    root.write("sys/fs/cgroup/mine/memory.max", "8589934592\n");
  }
  SECTION("version 1, in a container that sees its own group at the root") {
    root.write("proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/0123\n");
    root.write("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "8589934592\n");
  }
  if (!fs::exists(root / "proc/self/cgroup")) return;
  const auto group = look_at_memory(root.path());
  CHECK(group.killed_in_group == 2);
  CHECK(group.total_bytes == std::int64_t{8} << 30);
  auto later = group;
  later.killed_in_group = 4;
  CHECK(killed_text(group, later, 0) == "the kernel's memory killer ended 2 processes of this control group during the run");
  CHECK(killed_text({}, {}, 0) == "ablate did not send this signal; usually the kernel's memory killer does");
  CHECK(counts_kills(group, later));
  CHECK_FALSE(counts_kills(later, later));
  CHECK_FALSE(counts_kills({}, {}));
}

TEST_CASE("nearly exhausted memory and the kernel's log are evidence of the memory killer, too") {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable: 524288 kB\n");
  auto state = look_at_memory(root.path());
  CHECK(state.available_bytes == std::int64_t{512} << 20);
  CHECK_FALSE(is_short(state));
  root.write("proc/self/cgroup", "0::/mine\n");
  root.write("sys/fs/cgroup/mine/memory.max", "1073741824\n");
  root.write("sys/fs/cgroup/mine/memory.current", "1072693248\n");
  root.write("sys/fs/cgroup/mine/memory.stat", "anon 7\ninactive_file 4096\n");
  state = look_at_memory(root.path());
  CHECK(state.available_bytes == (std::int64_t{1} << 20) + 4096);
  CHECK(is_short(state));
  CHECK_FALSE(is_short({}));
  const std::string log =
      "<6>[   10.000000] Out of memory: Killed process 77 (old) total-vm:1kB\n"
      "<3>[  120.500000] Memory cgroup out of memory: Killed process 778 (ablate-worker) total-vm:9kB, anon-rss:8kB\n";
  CHECK(log_tells_kill(log, 778, 100));
  CHECK_FALSE(log_tells_kill(log, 778, 121));  // an earlier process with the same PID
  CHECK_FALSE(log_tells_kill(log, 77, 100));
  CHECK_FALSE(log_tells_kill("", 778, 0));
}

TEST_CASE("the free memory of a control group is the least free memory of the group and its ancestors") {
  const TemporaryFolder root;
  root.write("proc/meminfo", "MemTotal:       268435456 kB\nMemAvailable: 209715200 kB\n");
  SECTION("version 2") {
    root.write("proc/self/cgroup", "0::/job/step/task\n");
    root.write("sys/fs/cgroup/job/memory.max", "8589934592\n");
    root.write("sys/fs/cgroup/job/memory.current", "4294967296\n");
    root.write("sys/fs/cgroup/job/step/memory.max", "max\n");
    root.write("sys/fs/cgroup/job/step/memory.current", "4294967296\n");
  }
  SECTION("version 1") {
    root.write("proc/self/cgroup", "4:memory:/job/step\n");
    root.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8589934592\n");
    root.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "6442450944\n");
    root.write("sys/fs/cgroup/memory/job/memory.stat", "cache 7\ntotal_inactive_file 2147483648\n");
    root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "8589934592\n");
  }
  const auto state = look_at_memory(root.path());
  CHECK(state.available_bytes == std::int64_t{4} << 30);
  CHECK(state.total_bytes == std::int64_t{8} << 30);
}

TEST_CASE("control groups may grant less processor time than there are processors") {
  const TemporaryFolder root;
  CHECK(processor_quota(root.path()) == 0);
  SECTION("version 2") {
    root.write("proc/self/cgroup", "0::/job/step\n");
    root.write("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
    root.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  }
  SECTION("version 1 with controllers in a shared folder") {
    root.write("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/job\n");
    root.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "125000\n");
    root.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000\n");
    root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
  }
  if (fs::exists(root / "proc/self/cgroup")) CHECK(processor_quota(root.path()) == 2.5);
}

TEST_CASE("a size is read as people write it") {
  CHECK(bytes_of("4G") == std::int64_t{4} << 30);
  CHECK(bytes_of("1.5 GiB") == (std::int64_t{3} << 30) / 2);
  CHECK(bytes_of("800MB") == std::int64_t{800} << 20);
  CHECK(bytes_of("123") == 123);
  for (const auto* text : {"", "G", "-1G", "4Q", "1.2.3M", "0", "4 G x", "nan"}) CHECK_FALSE(bytes_of(text));
}

TEST_CASE("memory that a process does not share counts as its own, swapped out or not") {
  const TemporaryFolder proc;
  proc.write("42/smaps_rollup",
             "00400000-7fff r-xp 00000000 00:00 0 [rollup]\nRss: 9000 kB\nShared_Dirty: 4000 kB\nPrivate_Clean: 100 kB\n"
             "Private_Dirty: 900 kB\nPrivate_Hugetlb: 24 kB\nSwap: 1000 kB\nSwapPss: 500 kB\n");
  proc.write("42/status", "Name:\tx\nVmData:\t  2048 kB\nVmStk: 7 kB\n");
  CHECK(own_memory(42, proc.path()) == 2024 * 1024);
  CHECK(data_size(42, proc.path()) == 2048 * 1024);
  CHECK(own_memory(43, proc.path()) == -1);
  CHECK(own_memory(getpid()) > 0);
}

namespace {

/// A process that makes a folder and does not remove it.
struct Owner {
  Owner() {
    int said[2] = {};
    REQUIRE(pipe(said) == 0);
    process = fork();
    if (process == 0) {
      const ScratchFolder scratch;
      std::ofstream(scratch.path() / "data") << "much";
      const auto name = scratch.path().string();
      if (write(said[1], name.data(), name.size()) > 0) pause();
      _exit(1);
    }
    close(said[1]);
    char name[4096] = {};
    REQUIRE(read(said[0], name, sizeof name - 1) > 0);
    close(said[0]);
    path = name;
  }
  ~Owner() { kill_it(); }
  void kill_it() {
    if (process > 0) kill(process, SIGKILL), waitpid(process, nullptr, 0);
    process = 0;
  }
  pid_t process = 0;
  fs::path path;
};

}  // namespace

TEST_CASE("a new scratch folder removes the scratch folders of killed processes, but not of running processes") {
  const TemporaryFolder folder;
  const auto* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", folder.path().c_str(), 1);
  Owner living, killed;
  killed.kill_it();
  folder.write("other/data", "of somebody");
  folder.write("ablate-check.abc/data", "of another program");
  fs::create_directory_symlink(folder / "other", folder / "ablate-scratch.link");
  REQUIRE(fs::exists(killed.path / "data"));
  fs::path own;
  {
    const ScratchFolder first, second;
    own = first.path();
    CHECK(own.parent_path() == folder.path());
    CHECK(own != second.path());
    CHECK(fs::is_directory(own));
    CHECK_FALSE(fs::exists(killed.path));
    CHECK(fs::exists(living.path / "data"));
  }
  CHECK_FALSE(fs::exists(own));
  CHECK(fs::exists(folder / "other/data"));
  CHECK(fs::exists(folder / "ablate-check.abc/data"));
  if (before == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", kept.c_str(), 1);
  CHECK(fs::exists(living.path));
}
