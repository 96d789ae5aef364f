#include "core/trial/server/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "core/trial/device/tensor_memory.h"
#include "core/trial/server/environment.h"
#include "core/trial/server/warm_up.h"

namespace ablate {

int serve_ablate(int count, char** arguments, const std::vector<NamedHandler>& more) {
  if (count != 2) {
    std::cerr << arguments[0] << " is started by ablate with its process id; run `ablate --help`\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(arguments[1])) return 1;
  // Messages keep a descriptor of their own, so that a plugin that prints cannot garble them.
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    count_tensor_memory();
    warm_up();
    ProcessState state;
    TorchJobs jobs(state, study_handlers(more));
    serve(STDIN_FILENO, output, describe_environment(), state, jobs);
  } catch (const std::exception& error) {
    std::cerr << arguments[0] << ": " << error.what() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace ablate
