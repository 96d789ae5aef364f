// Limits of ablate run: a trial's resources, retries, failures that end the grid, and notifications.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/util/bytes_text.h"
#include "core/util/nearest.h"
#include "core/util/whole_number.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/offers.h"

namespace ablate {
namespace {

/// Returns NaN for a text that is not a decimal number.
double decimal_of(const std::string& text) {
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && std::isfinite(number) ? number : std::nan("");
}

/// Returns a check() for an option. If `takes` returns false, the error names the value found and the expected `what`.
CLI::Validator expecting(std::function<bool(const std::string&)> takes, const std::string& what) {
  return {[takes = std::move(takes), what](const std::string& text) {
            return takes(text) ? std::string() : fmt::format("found {}, expected {}", text, what);
          },
          ""};
}

bool is_jobs(const std::string& text) {
  const auto number = whole_number_of(text).value_or(0);
  return text == "auto" || (number >= 1 && number <= 4096);
}

MostFailures failures_of(const std::string& text) {
  const bool is_share = text.ends_with('%');
  const auto number = decimal_of(is_share ? text.substr(0, text.size() - 1) : text);
  if (is_share) return {.trials = 0, .percent = number > 0 && number <= 100 ? number : 0};
  return {.trials = number >= 1 && number <= 1e9 && number == std::floor(number) ? static_cast<int>(number) : 0};
}

std::vector<std::string> retry_words() {
  auto words = retry_choices();
  words.emplace_back("all");
  return words;
}

CLI::Validator retry_word() {
  return {[](const std::string& text) {
            const auto words = retry_words();
            if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
            return fmt::format("found {}, expected {}{}", text, fmt::join(words, ", "), hint(text, words));
          },
          ""};
}

}  // namespace

MostFailures max_failures_of(const RunArguments& arguments) {
  return arguments.max_failures.empty() ? MostFailures() : failures_of(arguments.max_failures);
}

void add_run_limits(CLI::App& command, RunArguments& arguments) {
  command
      .add_option_function<std::string>(
          "-j,--jobs", [&](const std::string& text) { arguments.at_a_time = whole_number_of(text).value_or(0); },
          "trials at a time; default: auto, processors / train.threads; fewer if memory does not suffice")
      ->check(offers({"auto"}))
      ->check(expecting(is_jobs, "trials at a time: a whole number from 1 to 4096, or auto"))
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--timeout", [&](const std::string& text) { arguments.timeout_s = decimal_of(text); },
          "seconds after which a trial is ended, instead of the study's timeout; 0: no limit. A trial that makes no step "
          "for a long time is always ended")
      ->check(expecting([](const std::string& text) { return decimal_of(text) >= 0 && decimal_of(text) <= 1e9; },
                        "seconds from 0 to 1e9"))
      ->type_name("S");
  command
      .add_option_function<std::string>(
          "--memory", [&](const std::string& text) { arguments.memory_bytes = bytes_of(text).value_or(0); },
          "limit of a trial's own memory, such as 4G or 800M: a trial above it is ended, with outcome oom")
      ->check(expecting([](const std::string& text) { return bytes_of(text).has_value(); },
                        "a size in bytes, or with the suffix K, M, G or T"))
      ->type_name("SIZE");
  command
      .add_option(
          "--retry", arguments.retry,
          "also retry trials with this outcome: failed, timeout, stalled, oom, or all; a trial has three tries under one code "
          "and data; repeat it for more")
      ->check(offers(retry_words()))
      ->check(retry_word())
      ->type_name("OUTCOME")
      ->allow_extra_args(false);
  command
      .add_option("--max-failures", arguments.max_failures,
                  "start no further trial after N failures, or after failures of N% of the trials to run")
      ->check(expecting(
          [](const std::string& text) {
            const auto most = failures_of(text);
            return most.trials > 0 || most.percent > 0;
          },
          "failed trials: a whole number from 1, or a percentage, such as 10%"))
      ->type_name("N|N%");
  command
      .add_option("--notify", arguments.notify,
                  "shell command to run at the end, at the first failure and if the history must move elsewhere; "
                  "$ABLATE_EVENT and others name the event")
      ->check(not_empty())
      ->type_name("CMD");
}

std::vector<std::string> words_of_run(const RunArguments& arguments, const std::string& file,
                                      const std::vector<std::string>& retry) {
  std::vector<std::string> words = {"run", file};
  for (const auto& one : arguments.overrides) words.insert(words.end(), {"--set", one});
  for (const auto& one : arguments.only) words.insert(words.end(), {"--only", one});
  for (const auto& one : retry) words.insert(words.end(), {"--retry", one});
  return words;
}

std::vector<std::string> set_aside_lines(const SetAside& set_aside, const RunArguments& arguments, const Options& options) {
  std::vector<std::string> lines;
  if (!arguments.shares.share.empty()) {  // --db would name the share's copy, which is read-only
    if (!set_aside.by_outcome.empty())
      lines.push_back(
          fmt::format("set aside, since they failed before: {}; the same command with --retry OUTCOME tries them again",
                      set_aside.outcomes_text()));
    if (set_aside.exhausted > 0)
      lines.push_back(
          fmt::format("set aside, since they failed {} times: {}; after `ablate merge`, `ablate run --again` runs them",
                      kMostTries, set_aside.exhausted));
    return lines;
  }
  std::vector<std::string> outcomes;
  for (const auto& [outcome, count] : set_aside.by_outcome) outcomes.push_back(outcome);
  if (!outcomes.empty())
    lines.push_back(fmt::format("set aside, since they failed before: {}; tried again by: {}", set_aside.outcomes_text(),
                                next_command(options, words_of_run(arguments, arguments.file, outcomes))));
  if (set_aside.exhausted > 0) {
    auto words = words_of_run(arguments, arguments.file, {});
    words.emplace_back("--again");
    lines.push_back(fmt::format("set aside, since they failed {} times: {}; only --again runs them, and done trials, too: {}",
                                kMostTries, set_aside.exhausted, next_command(options, words)));
  }
  return lines;
}

}  // namespace ablate
