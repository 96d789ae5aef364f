#include "db/history/process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace ablate::db {
namespace {

/// Field 22 of /proc/ID/stat; 0: there is no such process, or it is dead and not yet waited for.
std::int64_t start_of(std::int64_t id) {
  std::ifstream in(fmt::format("/proc/{}/stat", id));
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto name_end = text.rfind(')');  // a name may hold blanks and brackets
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;
  for (int at = 4; at <= 22; ++at) fields >> field;
  return fields ? std::stoll(field) : 0;
}

}  // namespace

std::string this_host() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

Process this_process() { return {this_host(), getpid(), start_of(getpid())}; }

bool lives(const Process& process) { return process.started != 0 && start_of(process.id) == process.started; }

}  // namespace ablate::db
