#include "core/shared/verdict_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/registry/folders.h"
#include "core/shared/versions.h"
#include "core/util/json_file.h"
#include "core/util/sha256.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t kLatest_s = 253'402'300'799;  ///< end of the year 9999, the last year of a date
constexpr const char* kTime = "time";                ///< the check that --no-timing leaves out

json subject_of(const PluginCode& code, const std::string& device) {
  return {{"kind", code.kind},         {"id", code.id},
          {"code", code.identity},     {"device", device},
          {"suite", kSuiteVersion},    {"runtime", kRuntimeVersion},
          {"sdk", ABLATE_SDK_VERSION}, {"torch", ABLATE_TORCH_VERSION}};
}

}  // namespace

std::string StoredVerdict::failed_text() const { return fmt::format("{}", fmt::join(failed, ", ")); }

fs::path VerdictMemory::path_of(const PluginCode& code, const std::string& device) const {
  return folder_ / (sha256(subject_of(code, device).dump()) + ".json");
}

std::optional<StoredVerdict> VerdictMemory::read(const PluginCode& code, const std::string& device) const {
  if (folder_.empty()) return std::nullopt;
  try {
    const auto file = read_json_file(path_of(code, device));
    if (file.at("subject") != subject_of(code, device)) return std::nullopt;  // somebody renamed the file
    if (!file.at("checked_s").is_number_integer()) return std::nullopt;
    StoredVerdict stored{.verdict = file.at("verdict"),
                         .failed = file.at("failed"),
                         .unchecked = file.at("unchecked"),
                         .timed = file.at("timed"),
                         .checked_s = file.at("checked_s"),
                         .lengths = file.value("lengths", CheckedLengths())};  // older files have no lengths
    if (stored.checked_s < 0 || stored.checked_s > kLatest_s) return std::nullopt;
    const bool is_one = stored.passed() ? stored.failed.empty() : stored.has_failed() && !stored.failed.empty();
    return is_one ? std::optional(stored) : std::nullopt;
  } catch (const std::exception&) {  // the file is missing, or another program wrote it
    return std::nullopt;
  }
}

StoredVerdict VerdictMemory::find(const PluginCode& code) const {
  const auto cpu = read(code, "cpu"), cuda = read(code, "cuda");
  // The suite compares a device with the CPU. Without the CPU's check, a device's check can fail a plugin, but not pass it.
  auto all = cpu.value_or(StoredVerdict{});
  if (!cuda) return all;
  for (const auto& name : cuda->failed) all.failed.push_back(name + " on cuda");
  if (!all.failed.empty()) all.verdict = "failed";
  all.checked_s = std::max(all.checked_s, cuda->checked_s);  // the latest check on any device, whether it passed or failed
  return all;
}

std::string VerdictMemory::put(const PluginCode& code, const std::string& device, StoredVerdict verdict) const {
  if (folder_.empty()) return "";
  const auto before = read(code, device);
  if (before) add_lengths(verdict.lengths, before->lengths);
  if (before && before->timed && !verdict.timed) {
    verdict.timed = true;
    if (std::find(before->failed.begin(), before->failed.end(), kTime) != before->failed.end()) {
      verdict.failed.emplace_back(kTime);
      verdict.verdict = "failed";
    }
  }
  const auto why = put_json_file(path_of(code, device), {{"subject", subject_of(code, device)},
                                                         {"verdict", verdict.verdict},
                                                         {"failed", verdict.failed},
                                                         {"unchecked", verdict.unchecked},
                                                         {"timed", verdict.timed},
                                                         {"checked_s", verdict.checked_s},
                                                         {"lengths", verdict.lengths}});
  return why.empty() ? "" : folder_.string() + ": " + why;
}

VerdictMemory user_verdicts() {
  const auto cache = cache_folder();
  return VerdictMemory(cache.empty() ? cache : cache / "verdicts");
}

}  // namespace ablate
