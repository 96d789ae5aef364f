#include "core/util/processes.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <thread>

namespace ablate {
namespace {

constexpr std::chrono::seconds kPatience(5);
constexpr std::chrono::milliseconds kBetweenLooks(5);

std::string folder_of(std::int64_t id) { return "/proc/" + std::to_string(id); }

using Starts = std::map<std::int64_t, std::int64_t>;  ///< start times by process

/// Adds the process and its descendants. Returns true if any of them was new.
bool add_tree(std::int64_t id, Starts& found) {
  const auto start = start_of_process(id);
  if (start == 0) return false;
  bool fresh = found.emplace(id, start).second;
  std::ifstream list(folder_of(id) + "/task/" + std::to_string(id) + "/children");
  for (std::int64_t child = 0; list >> child;) fresh = add_tree(child, found) || fresh;
  return fresh;
}

void send(const Starts& processes, int signal) {
  for (const auto& [id, start] : processes)
    if (start_of_process(id) == start) kill(static_cast<pid_t>(id), signal);
}

}  // namespace

std::int64_t start_of_process(std::int64_t id) {
  std::ifstream in(folder_of(id) + "/stat");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto name_end = text.rfind(')');  // a name may contain blanks and brackets
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") return 0;
  for (int at = 4; at <= 22; ++at) fields >> field;  // the start is field 22
  return fields ? std::stoll(field) : 0;
}

std::string process_space() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::array<char, 64> space{};
  if (!(in >> boot) || readlink("/proc/self/ns/pid", space.data(), space.size() - 1) < 0) return "";
  return boot + " " + space.data();
}

bool end_process_tree(std::int64_t id, std::int64_t started) {
  if (id <= 1 || started == 0 || start_of_process(id) != started) return false;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  const auto is_late = [&] { return std::chrono::steady_clock::now() > until; };
  // All processes are stopped before the first is killed, so that no process forks meanwhile.
  Starts all;
  while (add_tree(id, all) && !is_late()) send(all, SIGSTOP);
  send(all, SIGKILL);
  for (const auto& [one, start] : all)
    while (start_of_process(one) == start && !is_late()) std::this_thread::sleep_for(kBetweenLooks);
  return true;
}

}  // namespace ablate
