// Locks show which processes are alive. Leases rely on these facts.
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "core/util/byte_locks.h"
#include "core/util/processes.h"
#include "tests/support/catch.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// A child that takes a slot, runs a function, reports, and waits until it is ended.
class Holder {
 public:
  Holder(
      const std::filesystem::path& file, std::int64_t slot, const std::function<void()>& then = [] {}) {
    int said[2];
    REQUIRE(pipe2(said, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      ByteLocks locks(file);
      const char taken = locks.take(slot) ? 'y' : 'n';
      then();
      static_cast<void>(!write(said[1], &taken, 1));
      for (;;) pause();
    }
    close(said[1]);
    char taken = 0;
    REQUIRE(read(said[0], &taken, 1) == 1);
    close(said[0]);
    REQUIRE(taken == 'y');
  }
  ~Holder() { ends(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  pid_t pid() const { return pid_; }
  void stops() const {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  void ends() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

}  // namespace

TEST_CASE("if the file of locks is removed, each holder locks its slot in the next file") {
  TemporaryFolder folder;
  const auto file = folder / "h.db-leases";
  ByteLocks one(file), two(file);
  REQUIRE(one.take(1));
  std::filesystem::remove(file);
  REQUIRE(two.take(2));
  CHECK_FALSE(two.is_held(1));
  one.keep_slot();
  CHECK(two.is_held(1));
  CHECK(one.is_held(2));
  std::filesystem::remove(file);
  one.keep_slot();        // makes the new file, because no other scheduler has made it
  CHECK(one.is_held(2));  // `two` has not moved yet, and still holds slot 2 in the removed file
  two.keep_slot();
  CHECK(two.is_held(1));
  CHECK(one.is_held(2));
}

TEST_CASE("a slot stays taken while its holder lives, even stopped, and is free as soon as the holder is killed") {
  TemporaryFolder folder;
  const auto file = folder / "h.db-leases";
  Holder holder(file, 3);
  ByteLocks locks(file);
  REQUIRE(locks.take(1));
  CHECK(locks.is_held(1));
  CHECK_FALSE(locks.is_held(2));
  CHECK(locks.is_held(3));
  CHECK_FALSE(locks.take(3));
  holder.stops();
  CHECK(locks.is_held(3));
  CHECK_FALSE(locks.take(3));
  holder.ends();
  CHECK_FALSE(locks.is_held(3));
  CHECK(std::filesystem::file_size(file) == 0);
}

TEST_CASE("opening and closing the file again frees no lock, in the holder or in another process") {
  TemporaryFolder folder;
  const auto file = folder / "h.db-leases";
  const auto open_and_close = [&] { close(open(file.c_str(), O_RDWR | O_CLOEXEC)); };
  const Holder holder(file, 3, open_and_close);
  ByteLocks locks(file);
  REQUIRE(locks.take(1));
  open_and_close();
  {
    ByteLocks others(file);
    REQUIRE(others.take(2));
    CHECK(others.is_held(1));
    CHECK(others.is_held(3));
  }
  CHECK(locks.is_held(3));
  CHECK_FALSE(locks.is_held(2));
}

TEST_CASE("a child that execs another program has no locks of its parent; a child that only forks shares its parent's locks") {
  TemporaryFolder folder;
  const auto file = folder / "h.db-leases";
  const bool execs = GENERATE(true, false);
  int kept[2];  // the child inherits both descriptors, also through exec
  REQUIRE(pipe2(kept, 0) == 0);
  pid_t child = 0;
  {
    int number[2];
    REQUIRE(pipe2(number, O_CLOEXEC) == 0);
    Holder holder(file, 3, [&] {
      const pid_t made = fork();
      if (made == 0) {
        if (execs) execlp("sleep", "sleep", "60", nullptr);
        for (;;) pause();
      }
      static_cast<void>(!write(number[1], &made, sizeof made));
      // Waits for the exec, which closes the descriptors of the locks.
      for (int tries = 0; execs && tries < 1000; ++tries) {
        std::error_code none;
        if (std::filesystem::read_symlink("/proc/" + std::to_string(made) + "/exe", none) !=
            std::filesystem::read_symlink("/proc/self/exe", none))
          break;
        usleep(1000);
      }
    });
    REQUIRE(read(number[0], &child, sizeof child) == sizeof child);
    close(number[0]), close(number[1]);
    holder.ends();
  }
  ByteLocks locks(file);
  REQUIRE(locks.take(1));
  CHECK(locks.is_held(3) != execs);
  kill(child, SIGKILL);
  close(kept[0]), close(kept[1]);
}

TEST_CASE("locks that a second process cannot detect are distrusted, and file systems are judged by name") {
  TemporaryFolder folder;
  const auto file = folder / "h.db-leases";
  ByteLocks locks(file);
  REQUIRE(locks.take(7));
  CHECK(locks.doubt().empty());
  std::filesystem::remove(file);
  { ByteLocks(file).take(1); }  // another file in its place, in which no lock is held
  CHECK(locks.doubt() == "its file system lets two processes hold the same lock");
  for (const auto& [type, name] : std::vector<std::pair<long, std::string>>{{NFS_SUPER_MAGIC, "nfs"},
                                                                            {FUSE_SUPER_MAGIC, "fuse"},
                                                                            {V9FS_MAGIC, "9p"},
                                                                            {CEPH_SUPER_MAGIC, "ceph"},
                                                                            {0x0BD00BD0, "lustre"},
                                                                            {0x47504653, "gpfs"},
                                                                            {static_cast<int>(0xFF534D42), "cifs"},
                                                                            {EXT4_SUPER_MAGIC, ""},
                                                                            {TMPFS_MAGIC, ""}})
    CHECK(doubtful_file_system(type) == name);
}

TEST_CASE("a process tree is ended by PID and start time, even if stopped; a reused PID is not touched") {
  TemporaryFolder folder;
  const Holder parent(folder / "a", 1, [] {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) pause();
    }
  });
  const auto started = start_of_process(parent.pid());
  REQUIRE(started > 0);
  std::int64_t child = 0;
  std::ifstream("/proc/" + std::to_string(parent.pid()) + "/task/" + std::to_string(parent.pid()) + "/children") >> child;
  REQUIRE(start_of_process(child) > 0);
  CHECK_FALSE(end_process_tree(parent.pid(), started - 1));
  CHECK(start_of_process(parent.pid()) == started);
  parent.stops();
  CHECK(end_process_tree(parent.pid(), started));
  CHECK(start_of_process(parent.pid()) == 0);
  CHECK(start_of_process(child) == 0);
  CHECK_FALSE(end_process_tree(parent.pid(), started));
  CHECK_FALSE(end_process_tree(1, start_of_process(1)));
  CHECK_FALSE(process_space().empty());
}
