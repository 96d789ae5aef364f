// ablate-worker PARENT: started by ablate, speaks over its standard input and output.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

#include "core/trial/device/tensor_memory.h"
#include "core/trial/server/environment.h"
#include "core/trial/server/jobs.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "ablate-worker is started by ablate; run `ablate --help`\n";
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != std::atoi(arguments[1])) return 1;
  // Messages keep a descriptor of their own, so that a plugin that prints cannot garble them.
  const int output = dup(STDOUT_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    ablate::count_tensor_memory();
    const ablate::ProcessState state;
    ablate::TorchJobs jobs(state);
    ablate::serve(STDIN_FILENO, output, ablate::describe_environment(), state, jobs);
  } catch (const std::exception& error) {
    std::cerr << "ablate-worker: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
