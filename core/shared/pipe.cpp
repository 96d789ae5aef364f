#include "core/shared/pipe.h"

#include "core/shared/message_json.h"

namespace ablate {

using nlohmann::json;

template <>
struct TextOf<ExitCode> {
  static constexpr const char* expected = "an exit code";
  static json to(ExitCode code) { return static_cast<int>(code); }
  static ExitCode from(const json& value) {
    for (const auto code :
         {ExitCode::kDone, ExitCode::kTrialsFailed, ExitCode::kUsage, ExitCode::kPlugin, ExitCode::kInterrupted})
      if (value == static_cast<int>(code)) return code;
    throw Error("it is no exit code of ablate");
  }
};

void fields(auto& f, Is<LoadCommand::Data> auto& m) {
  f("section", m.section);
  f("digest", m.digest);
  f("files", m.files);
}

void fields(auto& f, Is<LoadCommand> auto& m) {
  fields(f, m.libraries);
  f("tasks", m.tasks);
  f("cuda", m.cuda);
}

void fields(auto& f, Is<StartCommand> auto& m) {
  f("job", m.job);
  f("kind", m.kind);
  f("spec", m.spec);
  f("limit_s", m.limit_s);
  f("output_file", m.output_file);
  f("memory_bytes", m.memory_bytes);
  f("processors", m.processors);
}

void fields(auto& f, Is<KillCommand> auto& m) { f("job", m.job); }

void fields(auto& f, Is<SaveCommand> auto& m) { f("job", m.job); }

void fields(auto&, Is<PingCommand> auto&) {}

void fields(auto& f, Is<ReadyEvent> auto& m) {
  f("environment", m.environment);
  f("most_jobs", m.most_jobs);
  f("word", m.word);
  f("build", m.build);
}

void fields(auto&, Is<LoadedEvent> auto&) {}

void fields(auto&, Is<PongEvent> auto&) {}

void fields(auto& f, Is<RefusedEvent> auto& m) {
  f("reason", m.reason);
  f("code", m.code);
  f("spoilt", m.spoilt);
}

void fields(auto& f, Is<SaidEvent> auto& m) {
  f("job", m.job);
  f("data", m.data);
}

void fields(auto& f, Is<SizeEvent> auto& m) {
  f("job", m.job);
  f("bytes", m.bytes);
}

void fields(auto& f, Is<EndedEvent> auto& m) {
  f("job", m.job);
  f("status", m.status);
  f("wall_s", m.wall_s);
  f("cpu_s", m.cpu_s);
  f("peak_resident_bytes", m.peak_resident_bytes);
  f("output", m.output);
  f("late", m.late);
  f("intrusion", m.intrusion);
  f("killed", m.killed);
  f("printed", m.printed);
  f("unkept", m.unkept);
  f("memory", m.memory);
}

void fields(auto& f, Is<NotStartedEvent> auto& m) {
  f("job", m.job);
  f("not_started", m.not_started);
}

namespace {

[[maybe_unused, gnu::used]] constexpr auto kAllOnPipe =
    json_of<LoadCommand, StartCommand, KillCommand, SaveCommand, PingCommand, ReadyEvent, LoadedEvent, PongEvent, RefusedEvent,
            SaidEvent, SizeEvent, EndedEvent, NotStartedEvent>();

template <class All>
json named(const All& message, const char* key) {
  return std::visit(
      [key](const auto& one) {
        auto text = to_json(one);
        text[key] = one.kName;
        return text;
      },
      message);
}

/// Parses the text as the first alternative that has this name. Throws BadMessage if there is none.
template <class All, std::size_t I = 0>
All alternative(const std::string& name, const json& text, const char* key) {
  if constexpr (I == std::variant_size_v<All>) {
    throw BadMessage(std::string(key) + ": found " + one_line(name, 80) + ", expected a name that this version knows");
  } else {
    using One = std::variant_alternative_t<I, All>;
    if (name == One::kName) return from_json<One>(text);
    return alternative<All, I + 1>(name, text, key);
  }
}

std::string name_in(const json& text, const char* key) {
  std::string name;
  FieldReader(text, "a message")(key, name);
  return name;
}

}  // namespace

int job_of(const Event& event) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.job; }) return one.job;
        return 0;
      },
      event);
}

json command_to_json(const Command& command) { return named(command, "do"); }

json event_to_json(const Event& event) { return named(event, "event"); }

Command command_from_json(const json& text) { return alternative<Command>(name_in(text, "do"), text, "do"); }

Event event_from_json(const json& text) {
  if (text.is_object() && text.contains("not_started")) return from_json<NotStartedEvent>(text);
  return alternative<Event>(name_in(text, "event"), text, "event");
}

}  // namespace ablate
