// What a job prints is read, however much it is, and only its tail is kept. (Jobs of plugins: tests/end-to-end, tests/faulty.)
#include "core/worker/server.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include "tests/support/catch.h"

using nlohmann::json;

namespace {

constexpr std::size_t kMiB = 1 << 20;

/// Prints as much as it was asked to, and then says so.
class Printing final : public ablate::Jobs {
 public:
  void load(const json&) override {}
  void run(const std::string&, const json& spec, const ablate::Say& say) override {
    const std::string much(kMiB, 'p');
    for (int i = 0; i < spec.at("mib").get<int>(); ++i) std::fwrite(much.data(), 1, much.size(), stdout);
    std::fputs("the end", stdout);
    say({{"printed", spec.at("mib")}});
  }
};

/// A server in a process of its own.
class Served {
 public:
  Served() {
    int in[2], out[2];
    REQUIRE(pipe(in) == 0);
    REQUIRE(pipe(out) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(in[1]);
      close(out[0]);
      Printing jobs;
      ablate::serve(in[0], out[1], json::object(), jobs);
      _exit(0);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1], from_ = fdopen(out[0], "r");
    CHECK(next().at("event") == "ready");
  }
  ~Served() { std::fclose(from_); }

  void start(int job, int mib) {
    const auto line = json{{"do", "start"}, {"job", job}, {"kind", "print"}, {"spec", {{"mib", mib}}}}.dump() + "\n";
    REQUIRE(write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }

  json next() {
    std::string line;
    for (int c; (c = std::fgetc(from_)) != EOF && c != '\n';) line += static_cast<char>(c);
    return json::parse(line);
  }

  /// Ends it. @return the most memory that it or a job had, in bytes
  std::size_t end() {
    close(to_);
    int status = 0;
    rusage usage{};
    REQUIRE(wait4(pid_, &status, 0, &usage) == pid_);
    CHECK(status == 0);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  }

 private:
  pid_t pid_;
  int to_;
  std::FILE* from_;
};

}  // namespace

TEST_CASE("of a job's output all is read, and no more than its tail is kept") {
  Served served;
  served.start(1, 1024);
  served.start(2, 0);
  std::map<int, json> ended;
  std::vector<int> order;
  while (ended.size() < 2) {
    const auto event = served.next();
    if (event.at("event") == "message") order.push_back(event.at("job"));
    if (event.at("event") == "ended") ended[event.at("job")] = event;
  }
  CHECK(order == std::vector<int>{2, 1});  // a job that prints much keeps no other waiting
  const std::string much = ended[1].at("output"), little = ended[2].at("output");
  CHECK(ended[1].at("status") == 0);
  CHECK(much == std::string(8192 - 7, 'p') + "the end");
  CHECK(little == "the end");
  CHECK(served.end() < 512 * kMiB);  // with room for a sanitizer's own
}
