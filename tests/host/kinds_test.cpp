// The kinds of plugins, and the functions that a library offers besides its descriptor.
#include "core/registry/plugin_info.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

struct Noted {
  static constexpr const char* kName = "tests.noted/1";
  int number;
};
struct NotedLater {
  static constexpr const char* kName = "tests.noted/2";
  int number, more;
};
constexpr Noted kNoted{7};

}  // namespace

TEST_CASE("a library returns an extension for its name and version, and null for any other") {
  auto made = detail::describe(Kind::kTask, {.id = "good", .extension = [](const char* name) -> const void* {
                                               return std::string_view(name) == Noted::kName ? &kNoted : nullptr;
                                             }});
  REQUIRE(extension_of<Noted>(made) != nullptr);
  CHECK(extension_of<Noted>(made)->number == 7);
  CHECK(extension_of<NotedLater>(made) == nullptr);
  made.extension = nullptr;
  CHECK(extension_of<Noted>(made) == nullptr);
}

TEST_CASE("kinds have names, and plugins of some kinds may be parameters of other plugins") {
  for (const auto& [kind, name, part] : kPluginKinds) {
    CHECK(kind_of_name(name) == kind);
    CHECK(to_text(kind) == std::string(name));
    CHECK(part_kind_of_name(name).has_value() == part);
  }
  CHECK_FALSE(kind_of_name("gate"));
  CHECK(to_text(static_cast<Kind>(99)) == std::string("unknown"));
  CHECK(kind_names() == "attention, compression or task");
  CHECK(kind_names(true) == "attention or compression");
  CHECK(with_article(Kind::kAttention) == "an attention");
  CHECK(with_article(Kind::kTask) == "a task");
}
