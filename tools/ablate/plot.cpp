#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/util/error.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/questions/plot_options.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

constexpr const char* kDrawing = "ablate-plot";
constexpr std::chrono::milliseconds kLastWords(500);  ///< time to write the text that stderr has not yet accepted

/// Replaces this process by ablate-plot from this program's folder, with the same words. Throws Error if this fails.
void draw(std::vector<std::string> words) {
  std::error_code unseen;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unseen).parent_path() / kDrawing;
  if (!std::filesystem::exists(program, unseen))
    throw Error(
        fmt::format("plot: found no {}, which draws figures and is built only where cairo is installed; install "
                    "libcairo2-dev (apt-get install libcairo2-dev) and build ablate again with tools/setup",
                    path_text(program)));
  std::vector<char*> arguments = {const_cast<char*>(kDrawing)};
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  standard_error().finish(kLastWords);
  execv(program.c_str(), arguments.data());
  throw Error(fmt::format("plot: {} cannot be started: {}", path_text(program), std::strerror(errno)));
}

}  // namespace

void add_plot(CLI::App& app, const std::vector<std::string>& words) {
  add_plot(app, [words](const PlotArguments&) { draw(words); });
}

}  // namespace ablate
