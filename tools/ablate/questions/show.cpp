#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/records/environment_parts.h"
#include "core/records/outcome.h"
#include "core/records/setting_paths.h"
#include "core/registry/abi_check.h"
#include "core/registry/folders.h"
#include "core/shared/schedules.h"
#include "core/util/bytes_text.h"
#include "core/util/plain_json.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/report/format.h"
#include "db/report/rising.h"
#include "db/types/metric_name.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/questions/table_request.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kCurve = 60;  ///< width of a curve in characters

std::string value_text(const ordered_json& value) {
  if (value.is_null()) return "nan";
  if (value.is_string()) return value.get<std::string>();
  return value.is_number_float() ? db::exact(value.get<double>()) : value.dump();
}

std::vector<std::string> curve_row(const std::string& metric, const ordered_json& points) {
  std::vector<double> values;
  std::size_t broken = 0;
  for (const auto& point : points)
    if (point[1].is_number())
      values.push_back(point[1].get<double>());
    else
      ++broken;
  auto steps = fmt::format("steps {} to {}", points.front()[0].get<std::int64_t>(), points.back()[0].get<std::int64_t>());
  if (broken > 0) steps += fmt::format(", {} of {} not a number", broken, points.size());
  if (values.empty()) return {metric, "", "", steps};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  return {metric, db::sparkline(values, kCurve),
          fmt::format("{} -> {}, least {}, most {}", db::brief(values.front()), db::brief(values.back()), db::brief(*least),
                      db::brief(*greatest)),
          steps};
}

/// Returns rows under a title. The first row is no header, although render_text expects a header.
std::string section(const std::string& title, const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return "";
  std::string text = "\n" + title + "\n";
  auto body = db::render_text(rows);
  for (std::size_t from = 0; from < body.size();) {
    const auto to = body.find('\n', from) + 1;
    text += "  " + body.substr(from, to - from);
    from = to;
  }
  return text;
}

/// Returns "passed its checks", "FAILED its checks: padding" or "unchecked", and later findings.
std::string checks_text(const db::Reader& reader, const ordered_json& plugin) {
  const auto text = [](const std::string& verdict, const std::string& failed) {
    return verdict == "passed" ? "passed its checks" : verdict == "failed" ? "FAILED its checks: " + failed : verdict;
  };
  const auto then = text(plugin["verdict"], plugin["failed_checks"]);
  const auto today =
      verdict_today(reader, {.kind = plugin["kind"], .id = plugin["id"], .code_identity = plugin["code_identity"]});
  const auto now = today ? text(today->verdict, today->failed_checks) : then;
  return now == then ? then : fmt::format("{} then; since: {}", then, now);
}

std::string size_text(const ordered_json& bytes) {
  return bytes_text(static_cast<std::uintmax_t>(std::max<std::int64_t>(bytes.get<std::int64_t>(), 0)));
}

std::string file_title(const ordered_json& file) {
  const auto kind = file["kind"].get<std::string>();
  return kind == "output" ? "whole output" : kind == "checkpoints" ? "checkpoint" : kind;
}

/// Returns "after step 300 of attempt 12, computed in another environment: kernels = avx2".
std::string resumed_text(const ordered_json& resumed) {
  auto text = fmt::format("after step {} of {}", value_text(resumed["step"]),
                          resumed["attempt"].is_null() ? "an attempt that was killed before it was recorded"
                                                       : "attempt " + value_text(resumed["attempt"]));
  if (!resumed["processor"].is_null())
    text += ", which ran on another processor, " + db::one_row(value_text(resumed["processor"]));
  if (const auto other = differences_text(resumed["environments"]); !other.empty())
    text += ", computed in another environment: " + db::one_row(other);
  return text;
}

/// Returns "/here/ablate.db.output/UID.txt, the first 10 MB of 34 MB", and a remark if the file was removed.
std::string file_text(const ordered_json& file) {
  auto text = db::one_row(file["file"].get<std::string>()) + ", ";
  if (file["of_bytes"] != file["bytes"])
    text += fmt::format("the first {} of {}", size_text(file["bytes"]), size_text(file["of_bytes"]));
  else
    text += size_text(file["bytes"]);
  if (!file["removed_us"].is_null()) return text + "; removed " + db::time_text(file["removed_us"].get<std::int64_t>());
  if (!file["is_there"]) text += "; missing: removed, or beside the history that it was merged from";
  return text;
}

/// Returns the learning rate of the last step as a share of its peak, by the trial's schedule; nullopt if it is not known.
std::optional<double> last_rate(const ordered_json& parameters) try {
  nlohmann::json own = nlohmann::json::object();
  const auto prefix = setting::in(section::kTrain, "");
  for (const auto& [path, value] : parameters.items())
    if (path.starts_with(prefix)) own[path.substr(prefix.size())] = value;
  const std::int64_t steps = parameters.at(setting::kSteps), warmup = parameters.at(setting::kWarmup);
  return schedule_of(parameters.at(setting::kSchedule)).rate(RunStep(steps, steps, warmup, own)).factor;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
} catch (const std::invalid_argument&) {  // a schedule of another version
  return std::nullopt;
}

/// Returns a text on how dev changed at the end of the run, or "" if the attempt has no curve of the metric on dev.
std::string rising_of(const ordered_json& attempt) {
  if (!attempt["main_metric"].is_string()) return "";
  const auto judged = attempt["main_metric"].get<std::string>();
  const auto dev = db::on_dev(judged);
  const auto curve = attempt["curves"].find(dev);
  const auto rate = last_rate(attempt["parameters"]);
  std::string direction;
  for (const auto& result : attempt["results"])
    if (result["metric"] == judged) direction = result["direction"];
  if (curve == attempt["curves"].end() || !rate || direction.empty()) return "";
  std::vector<std::pair<std::int64_t, double>> points;
  for (const auto& point : *curve)
    if (point[1].is_number()) points.emplace_back(point[0].get<std::int64_t>(), point[1].get<double>());
  return fmt::format("{} {}", dev, db::rising_text(db::rising_of(points, direction, *rate)));
}

std::string as_text(const db::Reader& reader, const ordered_json& attempt) {
  std::string names;
  for (const auto& experiment : attempt["experiments"])
    names += (names.empty() ? "" : ", ") + experiment["name"].get<std::string>();
  auto outcome = attempt["outcome"].get<std::string>();
  const auto reason = attempt["reason"].get<std::string>();
  if (!reason.empty()) outcome += ": " + db::first_line(reason);
  std::vector<std::vector<std::string>> head = {
      {"attempt", std::to_string(attempt["attempt"].get<std::int64_t>())},
      {"key", attempt["key"].get<std::string>()},
      {"experiment", names},
      {"outcome", outcome},
  };
  if (!attempt["resumed"].is_null()) head.push_back({"went on", resumed_text(attempt["resumed"])});
  if (outcome != outcome::kDone && !attempt["step"].is_null())
    head.push_back({"got to", fmt::format("step {} of {}", value_text(attempt["step"]), value_text(attempt["steps"]))});
  if (!attempt["signal"].is_null()) head.push_back({"signal", value_text(attempt["signal"])});
  if (!attempt["exit_code"].is_null()) head.push_back({"exit code", value_text(attempt["exit_code"])});
  head.push_back({"started", db::time_text(attempt["started_us"].get<std::int64_t>())});
  const auto measured = [&](const char* name, const auto& text) {
    return attempt[name].is_null() ? std::string("not measured") : text(attempt[name].get<double>());
  };
  head.push_back({"time", fmt::format("{} wall, CPU {}", db::duration_text(attempt["wall_s"].get<double>()),
                                      measured("cpu_s", db::duration_text))});
  head.push_back({"memory", measured("peak_resident_bytes", [](double bytes) {
                    return bytes_text(static_cast<std::uintmax_t>(std::max(bytes, 0.0))) + " resident at most";
                  })});
  if (const auto rising = rising_of(attempt); !rising.empty()) head.push_back({"still rising", rising});
  if (attempt["attempts"].size() > 1) {
    std::string all;
    for (const auto& other : attempt["attempts"])
      all += fmt::format("{}{} ({})", all.empty() ? "" : ", ", other["attempt"].get<std::int64_t>(),
                         other["outcome"].get<std::string>());
    head.push_back({"attempts", all});
  }
  for (const auto& unlike : attempt["unlike"]) head.push_back({"warning", unlike.get<std::string>()});
  for (const auto& file : attempt["files"]) head.push_back({file_title(file), file_text(file)});
  if (const auto repeat = attempt["repeat"].get<std::string>(); !repeat.empty()) {
    const auto note = attempt["repeat_note"].get<std::string>();  // after a #, so that the line can be pasted into a shell
    head.push_back({"repeat", note.empty() ? repeat : fmt::format("{}  # {}", repeat, note)});
  }
  auto text = db::render_text(head);
  if (db::first_line(reason) != reason) text += "\nthe whole reason\n" + db::printable(reason) + "\n";

  std::vector<std::vector<std::string>> rows;
  for (const auto& result : attempt["results"])
    rows.push_back({result["metric"].get<std::string>(),
                    result["value"].is_number() ? db::brief(result["value"].get<double>()) : value_text(result["value"]),
                    result["unit"].get<std::string>()});
  text += section("results", rows);
  rows.clear();
  for (const auto& [metric, points] : attempt["curves"].items()) rows.push_back(curve_row(metric, points));
  text += section("curves", rows);
  rows.clear();
  for (const auto& [path, value] : attempt["parameters"].items()) rows.push_back({path, value_text(value)});
  text += section("parameters", rows);
  rows.clear();
  for (const auto& plugin : attempt["plugins"])
    rows.push_back({plugin["kind"].get<std::string>(), plugin["id"].get<std::string>(), plugin["version"].get<std::string>(),
                    checks_text(reader, plugin), "code " + plugin["code_identity"].get<std::string>().substr(0, 12),
                    "binary " + plugin["content_hash"].get<std::string>().substr(0, 12), plugin["path"].get<std::string>()});
  text += section("plugins", rows);
  rows.clear();
  for (const auto& [name, value] : attempt["environment"].items()) rows.push_back({name, db::printable(value_text(value))});
  text += section("environment", rows);
  if (auto output = db::printable(attempt["output"].get<std::string>()); !output.empty()) {
    if (output.back() != '\n') output += '\n';
    text += "\nthe end of its output\n" + output;
  }
  return text;
}

/// Returns the folders that `ablate run` searches in any shell, without the folders of this shell's environment variables.
std::vector<std::filesystem::path> unnamed_folders() {
  std::vector<std::filesystem::path> paths;
  for (const auto& folder : plugin_folders({}))
    if (folder.owner) paths.push_back(folder.path);
  return paths;
}

}  // namespace

void add_show(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string attempt;
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("show", "Everything about one attempt");
  command->group(kQuestions);
  command->add_option("ATTEMPT", arguments->attempt, "its number, or the first digits of its trial's key")
      ->check(not_empty())
      ->type_name("")
      ->required();
  add_format(command, arguments->format, {"text", "json"},
             "text, or json with all hashes and every point of the curves; default: text");
  command->footer("`ablate attempts` lists the numbers.\nExample:\n  ablate show 1");
  command->callback([arguments, database, &exit_code] {
    const db::Reader reader(database());
    const auto attempt = db::show_attempt(reader, arguments->attempt, unnamed_folders(),
                                          [](const std::string& path) { return code_identity_in(path); });
    print("{}", arguments->format == db::Format::kJson ? plain_json(attempt, 2) + "\n" : as_text(reader, attempt));
    warn_of_left_out(reader);
    exit_code = 0;
  });
}

}  // namespace ablate
