// The program's output: to a terminal that no text may steer, to a disk that may be full, into a pipe that may be closed.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "core/util/output.h"
#include "db/report/format.h"

namespace ablate {

/// For stderr: what cannot be written is lost, and nothing waits for it. Control characters are left out.
template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  standard_error().write(db::printable(fmt::format(text, std::forward<Values>(values)...)));
}

/// A line of it.
inline void say_line(const std::string& text) { say("{}\n", text); }

/// For stdout, without control characters. Throws std::system_error; end_output finds errors of what a buffer holds to the end.
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
  fmt::print("{}", db::printable(fmt::format(text, std::forward<Values>(values)...)));
}

/// A path for a line of text, cleaned: a file's name may hold any character but a slash.
inline std::string path_text(const std::filesystem::path& path) { return db::one_row(path.string()); }

/// Called before anything is opened. Opens those of the descriptors 0, 1 and 2 that are closed: they would become files that
/// the program opens (a database, into which messages would then go). From here on a closed pipe is an error of writing, no
/// signal.
void hold_standard_streams();

/// The exit code where the reader of stdout has gone, as of a program that SIGPIPE ends.
inline constexpr int kNoReader = 128 + SIGPIPE;

/// Whether stdout has a reader: false where it is a pipe that its reader has closed.
bool stdout_is_read();

/// After everything: whether all of stdout could be written, and if not, says so. @return the exit code: `code` where all is
/// well, or where it is not 0 anyway; kNoReader, silently, where the reader has gone (ablate table | head)
int end_output(int code);

}  // namespace ablate
