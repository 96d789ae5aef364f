// Parameters that no instance reads, choices for which no instance can be made, and reads by a wrong type, for all three kinds.
#include "ablate/headwise.h"
#include "ablate/task.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "tests/conformance/means.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

/// Reads both, one or none of two parameters.
using Read = void (*)(const Values& values, bool causal);

template <Read reads>
struct Reader final : HeadwiseAttention {
  explicit Reader(const AttentionContext& context) : HeadwiseAttention(context, 2) {
    reads(context.parameters, context.causal);
  }
  HeadOutput attend(const HeadInput& input) override { return {.values = input.v}; }
};

constexpr Parameter kTwo[] = {text("kind", "\"a\"", "a|b|c", "kind"), when("kind = b", real("gap", "0.5", {0, 1}, "gap"))};
constexpr Parameter kAlways[] = {text("kind", "\"a\"", "a|b|c", "kind"), real("gap", "0.5", {0, 1}, "gap")};

template <Read reads>
Descriptor attention(std::span<const Parameter> parameters = kAlways, Promises promises = nullptr) {
  return tests::attention_of<Reader<reads>>({.id = "reader",
                                             .version = "1.0.0",
                                             .summary = "of a test",
                                             .capabilities = {.causal = true},
                                             .parameters = parameters,
                                             .promises = promises});
}

template <Read reads>
Descriptor compression() {
  struct Made final : tests::Means {
    explicit Made(const CompressionContext& context) : Means(context) { reads(context.parameters, false); }
  };
  return tests::compression_of<Made>({.id = "reader",
                                      .version = "1.0.0",
                                      .summary = "of a test",
                                      .capabilities = {.slots_have_keys = true},
                                      .parameters = kAlways});
}

struct Nothing final : Task {
  TaskInfo info() override { return {}; }
  void load() override {}
  std::string digest() const override { return ""; }
  std::int64_t size(Split) const override { return 0; }
  void read(Split, std::span<const std::int64_t>, BatchView) const override {}
  std::string describe(Split, std::int64_t) const override { return ""; }
};

template <Read reads>
Descriptor task() {
  auto made =
      detail::describe(Kind::kTask, {.id = "reader", .version = "1.0.0", .summary = "of a test", .parameters = kAlways});
  made.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> {
    reads(context.parameters, false);
    if (context.parameters.text("kind") == "c") return nullptr;
    return std::make_unique<Nothing>();
  };
  return made;
}

/// Returns "passed", or the text of the check.
std::string said(const Descriptor& plugin, const std::string& name) {
  const ::TemporaryFolder scratch;
  Checks checks;
  checks.only({name});
  check_schema(candidates(plugin, nlohmann::json::object(), {}), scratch.path(), checks);
  if (checks.all().empty()) return "no check";
  const auto& check = checks.all().front();
  return check.passed() ? "passed" : (check.failed() ? "" : "unchecked: ") + check.found;
}
std::string unread(const Descriptor& plugin) { return said(plugin, "unread"); }

void both(const Values& values, bool) { values.text("kind"), values.real("gap"); }
void kind(const Values& values, bool) { values.text("kind"); }
void neither(const Values&, bool) {}
void where_b(const Values& values, bool) {
  if (values.text("kind") == "b") values.real("gap");
}
void where_c(const Values& values, bool) {
  if (values.text("kind") == "c") values.real("gap");
}
void where_causal(const Values& values, bool causal) {
  values.text("kind");
  if (causal) values.real("gap");
}
void as_integer(const Values& values, bool) { values.text("kind"), values.integer("gap"); }

void refuses(const Values& values, bool) {
  if (values.text("kind") == "c") throw std::invalid_argument("c is not for two heads");
}
void breaks(const Values& values, bool) {
  if (values.text("kind") == "b") throw std::runtime_error("b is not written yet");
}
void hidden(const Values& values, bool) {
  if (!values.boolean("plain") && values.text("kind") == "b") throw std::logic_error("no b");
}
void lacks(const Values& values, bool) {
  if (values.text("kind") == "b") throw std::runtime_error("b.txt was not found");
}

Capabilities by_gap(const Capabilities& declared, const Values& values, std::span<const Capabilities>) {
  auto can = declared;
  can.causal = values.real("gap") > 0;
  return can;
}

constexpr const char* kRemedy = ", as when(\"NAME = VALUE\", ...)";

}  // namespace

TEST_CASE("a parameter that no instance reads is reported with a remedy") {
  for (const auto& wrong : {attention<kind>(), compression<kind>(), task<kind>(), attention<kind>(kTwo)}) {
    tests::check_mentions(unread(wrong), "no instance reads gap: read it in the constructor");
    tests::check_mentions(unread(wrong), kRemedy);
  }
  tests::check_mentions(unread(attention<neither>()), "no instance reads kind, gap: read them");
}

TEST_CASE("a parameter is read if some instance reads it: by a choice, at a place, or for the promises") {
  CHECK(unread(attention<both>()) == "passed");
  CHECK(unread(compression<both>()) == "passed");
  CHECK(unread(task<both>()) == "passed");
  CHECK(unread(attention<where_b>(kTwo)) == "passed");  // read if its condition holds
  CHECK(unread(attention<where_c>()) == "passed");      // read with a choice that no condition names
  CHECK(unread(compression<where_c>()) == "passed");
  CHECK(unread(task<where_b>()) == "passed");
  CHECK(unread(attention<where_causal>()) == "passed");
  CHECK(unread(attention<kind>(kAlways, by_gap)) == "passed");
  CHECK(unread(attention<neither>({})) == "no check");
}

TEST_CASE("a choice for which a factory returns null or throws is reported by its name") {
  CHECK(said(attention<both>(), "choices") == "passed");
  CHECK(said(compression<both>(), "choices") == "passed");
  CHECK(said(attention<refuses>(), "choices") == "kind = c: c is not for two heads");
  CHECK(said(attention<breaks>(), "choices") == "kind = b: b is not written yet");
  CHECK(said(compression<breaks>(), "choices") == "kind = b: b is not written yet");
  CHECK(said(task<both>(), "choices") == "kind = c: task reader: its factory returned nothing");
  auto null = attention<both>();
  null.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
    if (context.parameters.text("kind") == "b") return nullptr;
    return std::make_shared<Reader<both>>(context);
  };
  CHECK(said(null, "choices") == "kind = b: attention reader: its factory returned nothing");
  auto none = compression<both>();
  none.make_compression = [](const CompressionContext& context) -> std::shared_ptr<Compression> {
    if (context.parameters.text("kind") == "c") return nullptr;
    return std::make_shared<tests::Means>(context);
  };
  CHECK(said(none, "choices") == "kind = c: compression reader: its factory returned nothing");
}

TEST_CASE("a choice is tried if the parameter is read, and missing data are no fault") {
  static constexpr Parameter kBelow[] = {boolean("plain", "true", "plain"),
                                         when("plain = false", text("kind", "\"a\"", "a|b", "kind"))};
  CHECK(said(attention<hidden>(kBelow), "choices") == "kind = b: no b");
  auto without = task<lacks>();
  CHECK(said(without, "choices") == "kind = c: task reader: its factory returned nothing");
  without.make_task = [](const TaskContext& context) -> std::unique_ptr<Task> {
    lacks(context.parameters, false);
    return std::make_unique<Nothing>();
  };
  const ::TemporaryFolder scratch;
  Checks checks;
  checks.only({"choices"});
  check_schema(candidates(without, nlohmann::json::object(), {}), scratch.path(), checks);
  REQUIRE(checks.all().size() == 2);
  CHECK(checks.all()[0].passed());
  CHECK(checks.all()[1].found == "kind = b: b.txt was not found");
}

TEST_CASE("a read of a parameter as another type is refused") {
  const auto wrong = attention<as_integer>();
  const std::string why =
      "attention reader reads its parameter gap by integer(), but declares it as real: read it by real(), or declare "
      "another type";
  CHECK(said(wrong, "choices") == "kind = a: " + why);
  tests::check_mentions(unread(wrong), "no instance reads gap");
}

TEST_CASE("an extension is null for an unknown name; the version is part of the name") {
  auto made = attention<both>();
  CHECK(said(made, "extension") == "no check");
  static constexpr int kOffered = 1;
  made.extension = [](const char* name) -> const void* {
    return std::string_view(name) == "ablate.memory/1" ? &kOffered : nullptr;
  };
  CHECK(said(made, "extension") == "passed");
  made.extension = [](const char* name) -> const void* {  // accepts any version
    return std::string_view(name).starts_with("ablate.memory/") ? &kOffered : nullptr;
  };
  tests::check_mentions(said(made, "extension"), "extension(\"ablate.memory/999999\") gave an address, expected null");
  auto any = task<both>();
  any.extension = [](const char*) -> const void* { return &kOffered; };
  tests::check_mentions(said(any, "extension"), "extension(\"\") gave an address, expected null");
}

TEST_CASE("the names of the checks of a schema are accepted by --only") {
  const auto names = check_names();
  for (const auto& name : schema_check_names()) CHECK(std::find(names.begin(), names.end(), name) != names.end());
}
