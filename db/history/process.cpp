#include "db/history/process.h"

#include <unistd.h>

#include <array>

#include "core/util/processes.h"

namespace ablate::db {
std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Process this_process() { return {this_host(), getpid(), start_of_process(getpid())}; }

bool lives(const Process& process) { return process.started != 0 && start_of_process(process.id) == process.started; }

}  // namespace ablate::db
