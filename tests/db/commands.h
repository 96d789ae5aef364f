// Runs commands with a user's arguments inside the test. Their output goes to files instead of stdout and stderr.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tests/db/fixture.h"
#include "tests/support/catch.h"
#include "tools/ablate/questions/questions.h"

namespace ablate::db {

/// Commands on a history that has a done attempt and a crashed attempt.
class Commands {
 public:
  Commands() {
    Store store(file());
    const auto a = trial("softmax", {}, 1), b = trial("adamra", {"1/8"}, 1);
    put(store, "quickstart", {a, b});
    auto attempt = done(a, 85.5);
    for (int step = 1; step <= 100; ++step) attempt.curve.push_back({"train/loss", step, 100.0 / step});
    attempt.plugins = {{"attention", "softmax", "1.0.0", "c0de", "b1nary", "/lib/softmax.so"}};
    store.put_attempt(attempt);
    auto crash = failed(b, "signal 11 (Segmentation fault)");
    crash.signal = 11;
    crash.output = "last words\x1b[31m\n";
    store.put_attempt(crash);
  }

  std::filesystem::path file() const { return folder_ / "a.db"; }

  /// Runs a command line. Returns the message of the exception, if any, and then the output.
  std::string operator()(const std::string& line) {
    return captured([&](CLI::App& app) { app.parse(line); });
  }
  /// Runs a command that is split into words. A word may be empty.
  std::string words(std::vector<std::string> words) {
    std::reverse(words.begin(), words.end());
    return captured([&](CLI::App& app) { app.parse(std::move(words)); });
  }

  void (*add)(CLI::App& app, const DatabaseFile& database, int& exit_code) = add_questions;  ///< adds the commands under test
  int exit_code = -1;
  std::string errors;  ///< stderr of the last command

 private:
  std::string captured(const std::function<void(CLI::App&)>& parse) {
    CLI::App app;
    exit_code = -1;
    add(
        app, [this] { return file(); }, exit_code);
    const auto path = folder_ / "out";
    std::fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    const int kept_errors = dup(STDERR_FILENO);
    REQUIRE(std::freopen(path.c_str(), "w", stdout) != nullptr);
    REQUIRE(std::freopen((folder_ / "err").c_str(), "w", stderr) != nullptr);
    std::string message;
    try {
      parse(app);
    } catch (const Error& error) {
      message = error.what();
    } catch (const CLI::ParseError& error) {
      message = error.what();
    }
    for (auto* stream : {stdout, stderr}) std::fflush(stream);
    dup2(kept, STDOUT_FILENO);
    dup2(kept_errors, STDERR_FILENO);
    close(kept);
    close(kept_errors);
    errors = content(folder_ / "err");
    return message + content(path);
  }

  Folder folder_;
};

}  // namespace ablate::db
