// The program's output. Texts must not control a terminal, a disk may be full, and a pipe may be closed.
#pragma once

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "core/util/output.h"
#include "db/report/format.h"

namespace ablate {

/// Writes to stderr without control characters. Output that cannot be written is lost, and nothing waits for it.
template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  standard_error().write(db::printable(fmt::format(text, std::forward<Values>(values)...)));
}

/// Writes a line to stderr.
inline void say_line(const std::string& text) { say("{}\n", text); }

/// Writes to stdout without control characters. Throws std::system_error; end_output finds errors of buffered text.
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
  fmt::print("{}", db::printable(fmt::format(text, std::forward<Values>(values)...)));
}

/// Returns a path as text for one line, without control characters: a file's name may contain any character but a slash.
inline std::string path_text(const std::filesystem::path& path) { return db::one_row(path.string()); }

/// Opens the closed descriptors among 0, 1 and 2. Call it first: otherwise a file that the program opens, such as a database,
/// would get such a number and receive messages. From then on a closed pipe causes a write error and no signal.
void hold_standard_streams();

/// Exit code if the reader of stdout has gone: the exit code of a program that SIGPIPE ends.
inline constexpr int kNoReader = 128 + SIGPIPE;

/// True if stdout has a reader; false if it is a pipe whose reader has closed it.
bool stdout_is_read();

/// Flushes stdout at the end and reports a failure to write it.
/// @return `code` if all was written or `code` is not 0; kNoReader, silently, if the reader has gone (ablate table | head)
int end_output(int code);

}  // namespace ablate
