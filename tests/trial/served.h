// A worker's server in its own process, which gets commands as from a scheduler.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <map>

#include "core/trial/server/server.h"
#include "tests/support/catch.h"

/// Functions that the server's jobs run, by kind of job.
class Actions final : public ablate::Jobs {
 public:
  using Action = std::function<void(const nlohmann::json& spec, const ablate::Say&)>;
  explicit Actions(std::map<std::string, Action> all, std::function<void()> on_load = {})
      : all_(std::move(all)), on_load_(std::move(on_load)) {}
  void load(const ablate::LoadCommand&) override {
    if (on_load_) on_load_();
  }
  void run(const std::string& kind, const nlohmann::json& spec, const ablate::Say& say) override { all_.at(kind)(spec, say); }

 private:
  std::map<std::string, Action> all_;
  std::function<void()> on_load_;
};

inline const ablate::ProcessState* served_state = nullptr;  ///< set only in the server's process and in its jobs

class Served {
 public:
  /// @param prepare called in the server's process, before it serves
  /// @param standard_input true to read commands from standard input, as ablate-worker does
  explicit Served(Actions jobs, const std::function<void()>& prepare = {}, bool standard_input = false) {
    int in[2], out[2];
    REQUIRE(pipe(in) == 0);
    REQUIRE(pipe(out) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(in[1]);
      close(out[0]);
      if (prepare) prepare();
      if (standard_input) dup2(in[0], STDIN_FILENO), close(in[0]), in[0] = STDIN_FILENO;
      ablate::ProcessState state;
      served_state = &state;
      ablate::serve(in[0], out[1], nlohmann::json::object(), state, jobs);
      _exit(0);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1], from_ = fdopen(out[0], "r");
    ready = next();
    CHECK(ready.at("event") == "ready");
    word_ = ready.at("word");
  }
  ~Served() { std::fclose(from_); }

  void send(const ablate::Command& command) const {
    const auto line = ablate::command_to_json(command).dump() + "\n";
    REQUIRE(write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  void start(int job, const std::string& kind, const nlohmann::json& spec = nlohmann::json::object(), double limit_s = 0,
             const std::string& output_file = "") const {
    send(ablate::StartCommand{job, kind, spec, limit_s, output_file});
  }

  nlohmann::json next() const {
    std::string line;
    for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return nlohmann::json::parse(line.substr(line.starts_with(word_) ? word_.size() : 0));
  }

  /// Reads a job's messages until its end. Returns the last message, with all other messages as "said": [...].
  nlohmann::json end_of(int job) const {
    auto said = nlohmann::json::array();
    for (;;) {
      auto event = next();
      if (event.value("job", 0) != job) continue;
      if (event.at("event") == "message") said.push_back(event.at("data"));
      if (event.at("event") != "ended") continue;
      event["said"] = said;
      return event;
    }
  }

  pid_t pid() const { return pid_; }

  /// Ends the server. Returns the resource usage of the server and its jobs.
  rusage end() const {
    close(to_);
    int status = 0;
    rusage usage{};
    REQUIRE(wait4(pid_, &status, 0, &usage) == pid_);
    CHECK(status == 0);
    return usage;
  }

  nlohmann::json ready;

 private:
  std::string word_;
  pid_t pid_;
  int to_;
  std::FILE* from_;
};
