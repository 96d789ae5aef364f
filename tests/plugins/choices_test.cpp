// Text parameters whose values belong to an enumeration: the schema's text, and the value for the code.
#include "ablate/choices.h"

#include "tests/support/catch.h"

namespace {

enum class Size { kSmall, kLarge };
constexpr auto kSizes = ablate::choices<Size>({{"small", Size::kSmall}, {"very-large", Size::kLarge}});
constexpr ablate::Parameter parameters[] = {ablate::text("size", "\"small\"", kSizes, "how much"),
                                            ablate::text("other", "\"x\"", "", "any text")};

struct Given final : ablate::Values {
  std::string given;
  bool boolean(const char*) const override { return false; }
  std::int64_t integer(const char*) const override { return 0; }
  double real(const char*) const override { return 0; }
  std::string text(const char*) const override { return given; }
  ablate::Rate rate(const char*) const override { return {}; }
  std::vector<ablate::Rate> rates(const char*) const override { return {}; }
  std::string file(const char*) const override { return ""; }
  std::int64_t count(const char*) const override { return 0; }
};

Size size_of(const std::string& text) {
  Given values;
  values.given = text;
  return kSizes.of(values, parameters[0].name);
}

}  // namespace

TEST_CASE("choices give texts to the schema, and values to the code") {
  CHECK(std::string(parameters[0].choices) == "small|very-large");
  CHECK(parameters[0].type == ablate::ParameterType::kText);
  CHECK(size_of("small") == Size::kSmall);
  CHECK(size_of("very-large") == Size::kLarge);
  CHECK_THROWS_WITH(size_of("very"), "size = very, expected small|very-large");
}
