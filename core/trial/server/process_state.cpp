#include "core/trial/server/process_state.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdlib>

namespace ablate {
namespace {

std::vector<std::string> all_variables() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

}  // namespace

ProcessState::ProcessState() : variables_(all_variables()), locale_(std::setlocale(LC_ALL, nullptr)), mask_(umask(0)) {
  umask(mask_);
  std::error_code gone;
  folder_ = std::filesystem::current_path(gone);
}

void ProcessState::restore() const {
  std::fesetenv(FE_DFL_ENV);
  std::error_code gone;
  std::filesystem::current_path(folder_, gone);
  if (all_variables() != variables_) {
    clearenv();
    for (const auto& variable : variables_) {
      const auto equals = variable.find('=');
      if (equals != std::string::npos) setenv(variable.substr(0, equals).c_str(), variable.c_str() + equals + 1, 1);
    }
  }
  if (locale_ != std::setlocale(LC_ALL, nullptr)) std::setlocale(LC_ALL, locale_.c_str());
  umask(mask_);
}

void ProcessState::restore_signals() {
  alarm(0);
  for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, signal == SIGPIPE || signal == SIGXFSZ ? SIG_IGN : SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace ablate
