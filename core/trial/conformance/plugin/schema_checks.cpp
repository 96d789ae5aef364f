#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <stdexcept>

#include "core/registry/conditions.h"
#include "core/registry/values.h"
#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/compression/subject.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/task/checks.h"
#include "core/util/error.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr Allowed kDeclared{0, "the declared schema (ablate/parameter.h)"};
constexpr const char *kUnread = "unread", *kChoices = "choices", *kExtension = "extension";

/// Makes instances one by one, first at home(). Rethrows exceptions of a factory. A task is made, but not loaded, because it
/// reads its parameters in its factory (ablate/values.h).
/// @param goes_on called after each instance, until it returns false
void make_some(const Candidate& candidate, const std::filesystem::path& scratch, const std::function<bool()>& goes_on) {
  switch (candidate.kind) {
    case Kind::kAttention: {
      const AttentionSubject subject(candidate, Depth::kSmall);
      for (const auto& stand : subject.possible_stands()) {
        subject.make(1, stand);
        if (!goes_on()) return;
      }
      return;
    }
    case Kind::kCompression: {
      const CompressionSubject subject(candidate, Depth::kSmall);
      subject.make({.slots = subject.usual()});
      if (candidate.promises.fixed_slots && goes_on()) subject.make({.slots = {.fixed = 4}});
      return;
    }
    case Kind::kTask: {
      const TaskSubject subject(candidate, scratch, true);
      subject.make(1, subject.folder("made"));
    }
  }
}

/// Returns values to try for a parameter, because a plugin may read some parameters only if another one has a certain value.
std::vector<json> others(const ParameterInfo& parameter) { return values_within(parameter, {0, 4}, {0, 0.5}); }

/// Search for instances that read each parameter. Ends when every parameter was read.
class Search {
 public:
  Search(const std::vector<Candidate>& all, std::filesystem::path scratch)
      : all_(all), plugin_(describe(all.front().descriptor())), scratch_(std::move(scratch)) {}

  void run() {
    for (const auto& candidate : all_) look([&] { return candidate; });
    for (const auto& parameter : plugin_.parameters)
      for (const auto& candidate : all_) {
        if (reads_.contains(plugin_, parameter.name)) break;
        look([&] { return candidate.with(parameter.name, candidate.section.at(parameter.name)); });
      }
    const auto& first = all_.front();
    for (const auto& parameter : plugin_.parameters)
      for (const auto& other : plugin_.parameters)
        for (const auto& value : others(other)) {
          if (reads_.contains(plugin_, parameter.name)) break;
          // If the parameter is used only under a condition, also tries the other parameter's value under this condition.
          look([&] { return first.with(other.name, value); });
          if (!parameter.when.empty())
            look([&] { return first.with(parameter.name, first.section.at(parameter.name)).with(other.name, value); });
        }
  }

  std::vector<const ParameterInfo*> unread() const {
    std::vector<const ParameterInfo*> found;
    for (const auto& parameter : plugin_.parameters)
      if (!reads_.contains(plugin_, parameter.name)) found.push_back(&parameter);
    return found;
  }

 private:
  /// @param make returns a candidate, or throws if the host refuses the combination of its values
  template <class Make>
  void look(const Make& make) {
    if (unread().empty()) return;
    try {
      make_some(make(), scratch_, [this] { return !unread().empty(); });
    } catch (const std::exception&) {  // the reads before the exception count, and other checks report the fault
    }
  }

  const std::vector<Candidate>& all_;
  PluginInfo plugin_;
  std::filesystem::path scratch_;
  Reads reads_;
};

void all_are_read(const std::vector<Candidate>& all, const std::filesystem::path& scratch, Finding& finding) {
  Search search(all, scratch);
  search.run();
  std::vector<std::string> names;
  for (const auto* parameter : search.unread()) names.push_back(parameter->name);
  if (!names.empty())
    throw std::runtime_error(
        fmt::format("no instance reads {}: read {} in the constructor; if only one value of another parameter needs it, "
                    "declare that, as "
                    "when(\"NAME = VALUE\", ...) (ablate/parameter.h); otherwise remove it from the schema",
                    fmt::join(names, ", "), names.size() == 1 ? "it" : "them"));
  if (!describe(all.front().descriptor()).parameters.empty()) finding.saw();
}

/// Makes an instance with one choice of a text parameter. It is no fault if the host refuses the choice or data are missing.
void choice_is_made(const Candidate& candidate, const std::filesystem::path& scratch, const std::string& choice,
                    Finding& finding) {
  try {
    make_some(candidate, scratch, [] { return false; });
    finding.saw();
  } catch (const std::logic_error& error) {  // includes std::invalid_argument: each declared choice must work
    throw std::runtime_error(fmt::format("{}: {}", choice, one_line(error.what())));
  } catch (const std::exception& error) {
    if (candidate.kind != Kind::kTask && dynamic_cast<const Error*>(&error) == nullptr)
      throw std::runtime_error(fmt::format("{}: {}", choice, one_line(error.what())));
    finding.leave(fmt::format("{}: {}", choice, one_line(error.what())));
  }
}

void choices_are_made(const Candidate& candidate, const std::filesystem::path& scratch, Finding& finding) {
  for (const auto& parameter : describe(candidate.descriptor()).parameters) {
    if (parameter.type != ParameterType::kText) continue;
    for (const auto& choice : parameter.choices) {
      const auto text = fmt::format("{} = {}", parameter.name, choice);
      try {
        choice_is_made(candidate.with(parameter.name, choice), scratch, text, finding);
      } catch (const Error& refusal) {
        finding.leave(fmt::format("{}: {}", text, one_line(refusal.what())));
      }
    }
  }
}

/// Checks names that no library defines: an empty name, a name that is not ours, and later versions of our names.
void unknown_are_null(const Descriptor& descriptor, Finding& finding) {
  for (const auto* name : {"", "unknown", "ablate.", "ablate.unknown/1", "ablate.attention/999999", "ablate.memory/999999"})
    if (descriptor.extension(name) != nullptr)
      throw std::runtime_error(
          fmt::format("extension(\"{}\") gave an address, expected null: compare the whole name, with its version, and return "
                      "null for every name that the library does not know (ablate/plugin.h)",
                      name));
  finding.saw();
}

}  // namespace

std::vector<std::string> schema_check_names() { return {kUnread, kChoices, kExtension}; }

void check_schema(const std::vector<Candidate>& all, const std::filesystem::path& scratch, Checks& checks) {
  const auto& first = all.front();
  const auto parameters = describe(first.descriptor()).parameters;
  const auto folder = scratch / "schema";
  if (!parameters.empty())
    checks.run(kUnread, fmt::format("{}, {} parameters", first.descriptor().id, parameters.size()), kDeclared,
               [&](Finding& finding) { all_are_read(all, folder, finding); });
  if (std::any_of(parameters.begin(), parameters.end(),
                  [](const auto& one) { return !one.choices.empty() && !one.plugin_kind(); }))
    checks.run(kChoices, first.name() + ", each of a text", kDeclared,
               [&](Finding& finding) { choices_are_made(first, folder, finding); });
  if (first.descriptor().extension != nullptr)
    checks.run(kExtension, fmt::format("{}, unknown names", first.descriptor().id), kDeclared,
               [&](Finding& finding) { unknown_are_null(first.descriptor(), finding); });
}

}  // namespace ablate
