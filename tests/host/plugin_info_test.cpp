#include "core/registry/plugin_info.h"

#include <thread>

#include "core/registry/conditions.h"
#include "core/registry/values.h"
#include "core/util/error.h"
#include "tests/support/catch.h"
#include "tests/support/says.h"

using namespace ablate;
using nlohmann::json;

// In a library, ABLATE_EXPORT_PLUGIN defines this.
extern "C" const ablate::CodeStamp ablate_code = {};

namespace {

constexpr Parameter kGood[] = {
    boolean("flag", "true", "a flag"),   integer("heads", "2", {1, 64}, "heads"),
    real("decay", "1", {0, 1}, "decay"), text("map", "\"relu\"", "relu|elu+1", "feature map"),
    rate("rate", "0.25", "one rate"),    rates("rates", "[\"2/4\", 0.125]", "several rates"),
};

Descriptor descriptor(std::span<const Parameter> parameters, const char* id = "good") {
  auto made = detail::describe(Kind::kAttention, {.id = id,
                                                  .version = "1.2.3",
                                                  .summary = "s",
                                                  .capabilities = {.causal = true, .time_exponent = 2},
                                                  .parameters = parameters});
  made.make_attention = [](const AttentionContext&) { return std::shared_ptr<Attention>(); };
  return made;
}

std::string why(std::span<const Parameter> parameters, const char* id = "good") {
  try {
    describe(descriptor(parameters, id));
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kPlugin);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the defaults of a schema are checked and made canonical") {
  const auto info = describe(descriptor(kGood));
  REQUIRE(info.parameters.size() == 6);
  CHECK(info.find("decay")->default_value.is_number_float());
  CHECK(info.find("rate")->default_value == "1/4");
  CHECK(info.find("rates")->default_value == json({"1/2", "1/8"}));
  CHECK(info.find("map")->choices == std::vector<std::string>{"relu", "elu+1"});
  CHECK(info.find("nothing") == nullptr);
}

TEST_CASE("a file, a plugin and a list of plugins can be parameters") {
  const Parameter all[] = {file("table", "\"\"", "a file"), plugin("memory", "compression", "one"),
                           plugins("parts", "attention", "several")};
  const auto info = describe(descriptor(all));
  CHECK(to_json(plugin_info_from_json(to_json(info))) == to_json(info));
  CHECK(info.find("memory")->plugin_kind() == Kind::kCompression);
  CHECK(info.find("parts")->plugin_kind() == Kind::kAttention);
  CHECK_FALSE(info.find("table")->plugin_kind());
  CHECK(info.find_plugin(Kind::kCompression) == info.find("memory"));
  CHECK(info.find_plugin(Kind::kAttention) == nullptr);
  CHECK(check_value(*info.find("memory"), {{"plugin", "rbf"}}).ok());
  CHECK(check_value(*info.find("memory"), "rbf").expected == "a compression plugin");
  CHECK_FALSE(check_value(*info.find("parts"), json::array()).ok());
  CHECK_FALSE(check_value(*info.find("parts"), json(17, {{"plugin", "softmax"}})).ok());
  CHECK(check_value(*info.find("parts"), json(16, {{"plugin", "softmax"}})).ok());
  const auto given = plugin_from_json(
      {{"plugin", "good"}, {"table", "x"}, {"memory", {{"plugin", "rbf"}}}, {"parts", {{{"plugin", "a"}}, {{"plugin", "b"}}}}});
  const JsonValues values(given, info);
  CHECK(values.file("table") == "x");
  CHECK(values.count("parts") == 2);
  CHECK(values.part("parts", 1).id == "b");
  CHECK(values.part("memory", 0).id == "rbf");
  CHECK_THROWS_AS(values.part("memory", 1), std::logic_error);
  CHECK_THROWS_AS(values.count("table"), std::logic_error);

  auto with_default = plugin("memory", "compression", "");
  with_default.default_value = "\"rbf\"";
  const Parameter wrong[] = {with_default}, kind[] = {plugin("memory", "task", "")};
  CHECK(says(why(wrong), "memory: the default is \"rbf\", and plugins have none"));
  CHECK(says(why(kind), "expected the kind of its plugins, attention or compression"));
}

TEST_CASE("JSON keeps all fields of a plugin") {
  auto info = describe(descriptor(kGood));
  info.path = "/some/where.so", info.content_hash = "abc";
  const auto back = plugin_info_from_json(json::parse(to_json(info).dump()));
  CHECK(to_json(back) == to_json(info));
  CHECK(back.capabilities.causal);
  CHECK(back.capabilities.time_exponent == 2);
  CHECK(back.code_identity() == "abc");
}

TEST_CASE("errors in a schema are refused with the name of the parameter") {
  const Parameter out_of_range[] = {integer("heads", "0", {1, 64}, "")};
  const Parameter no_json[] = {text("map", "relu", "", "")};
  const Parameter no_choice[] = {text("map", "\"tanh\"", "relu|elu+1", "")};
  const Parameter twice[] = {boolean("a", "true", ""), boolean("a", "true", "")};
  const Parameter reserved[] = {boolean("plugin", "true", "")};
  const Parameter spelled[] = {boolean("Heads", "true", "")};
  const Parameter bad_rate[] = {rate("rate", "\"3/2\"", "")};
  CHECK(says(why(out_of_range), "heads: the default is 0, expected an integer in [1, 64]"));
  CHECK(says(why(no_json), "quotes"));
  CHECK(says(why(no_choice), "one of relu, elu+1"));
  CHECK(says(why(twice), "twice"));
  CHECK(says(why(reserved), "reserved"));
  CHECK(says(why(spelled), "snake_case"));
  CHECK(says(why(bad_rate), "(0, 1]"));
  CHECK(says(why({}, "Not An Id"), "id"));
}

TEST_CASE("an exemption states a finite tolerance above 0") {
  const auto why_of = [](double tolerance) {
    const Exemption all[] = {{"causal", "", "as published", tolerance}};
    auto made = descriptor({});
    made.exemptions = all, made.exemption_count = 1;
    try {
      const auto info = describe(made);
      CHECK(plugin_info_from_json(to_json(info)).exemptions.at(0).tolerance == tolerance);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(why_of(0.1).empty());
  for (const double none : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    CHECK(says(why_of(none), "expected a number above 0: the largest error that is allowed"));
}

TEST_CASE("a condition names another parameter of the plugin, and a value that the other parameter can have") {
  const auto with = [](const char* condition) {
    const Parameter all[] = {text("map", "\"relu\"", "relu|elu+1", ""), integer("heads", "2", {1, 64}, ""),
                             file("table", "\"\"", ""), when(condition, real("decay", "1", {0, 1}, ""))};
    return why(all);
  };
  for (const auto* fine : {"heads > 1", "heads < 2", "map = relu", "map = \"elu+1\"", "heads = 2", "table = \"\"", ""})
    CHECK(with(fine).empty());
  CHECK(says(with("mpa = relu"),
             "its parameter decay is read when \"mpa = relu\", expected \"PARAMETER = VALUE\" with a parameter"));
  CHECK(says(with("map=relu"), "expected \"PARAMETER = VALUE\" with a parameter"));
  CHECK(says(with("map = tanh"), "its parameter decay is read when \"map = tanh\", but map accepts one of relu, elu+1"));
  CHECK(says(with("heads = 65"), "but heads accepts an integer in [1, 64]"));
  CHECK(says(with("heads > 64"), "but heads accepts an integer in [1, 64]"));
  CHECK(says(with("heads < 1"), "but heads accepts an integer in [1, 64]"));
  CHECK(says(with("map > 1"), "but map accepts one of relu, elu+1"));
  CHECK(says(with("decay = 1"), "its parameter decay is read when \"decay = 1\", but a condition needs another parameter"));
  CHECK(says(with(nullptr), "its condition is null"));
  const Parameter part[] = {boolean("flag", "true", ""), when("flag = true", plugin("memory", "compression", ""))};
  CHECK(
      says(why(part), "its parameter memory is read when \"flag = true\", but a parameter that names plugins is always read"));
}

TEST_CASE("a condition holds for a section with that value; a text may be in quotes or without quotes") {
  const json section = {{"map", "relu"}, {"heads", 2}, {"data", ""}, {"flag", false}};
  for (const auto* so :
       {"", "map = relu", "map = \"relu\"", "heads = 2", "heads > 1", "heads < 3", "data = \"\"", "flag = false"})
    CHECK(holds(so, section));
  for (const auto* not_so :
       {"map = elu+1", "heads = 3", "heads > 2", "heads < 2", "map > 0", "other > 0", "data = x", "flag = true", "other = 1"})
    CHECK_FALSE(holds(not_so, section));
}

TEST_CASE("values are checked by type, range and choice") {
  const auto info = describe(descriptor(kGood));
  const auto check = [&](const char* name, const json& value) { return check_value(*info.find(name), value); };
  CHECK(check("heads", 64).ok());
  CHECK_FALSE(check("heads", 65).ok());
  CHECK_FALSE(check("heads", 2.0).ok());
  CHECK_FALSE(check("heads", "2").ok());
  CHECK(check("decay", 1).value.is_number_float());  // 1 and 1.0 make the same trial
  CHECK_FALSE(check("decay", 1.5).ok());
  CHECK_FALSE(check("flag", 1).ok());
  CHECK_FALSE(check("map", "gelu").ok());
  CHECK(check("rate", 0.125).value == "1/8");
  CHECK(check("rate", 1).value == "1");
  CHECK_FALSE(check("rate", 0).ok());
  CHECK_FALSE(check("rate", 1.5).ok());
  CHECK_FALSE(check("rates", json::array()).ok());
  CHECK_FALSE(check("rates", "1/2").ok());
  CHECK(check("heads", 65).expected == "an integer in [1, 64]");
}

TEST_CASE("a plugin reads its values only by name and type") {
  const auto info = describe(descriptor(kGood));
  const PluginSpec given{
      "good", {{"heads", 2}, {"decay", 0.5}, {"rates", {"1/2", "1/8"}}, {"map", "relu"}, {"flag", true}, {"rate", "1/3"}}};
  const JsonValues values(given, info);
  CHECK(values.integer("heads") == 2);
  CHECK(values.real("decay") == 0.5);
  CHECK(values.text("map") == "relu");
  CHECK(values.boolean("flag"));
  CHECK(values.rate("rate") == Rate{1, 3});
  CHECK(values.rates("rates") == std::vector<Rate>{{1, 2}, {1, 8}});
  const auto refusal = [&](auto read) -> std::string {
    try {
      read();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal([&] { values.integer("head"); }) ==
        "attention good reads a parameter that its schema lacks: head (did you mean heads?)");
  // A real that is read as an integer would become 0.
  CHECK(refusal([&] { values.integer("decay"); }) ==
        "attention good reads its parameter decay by integer(), but declares it as real: read it by real(), or declare "
        "another type");
  CHECK(says(refusal([&] { values.real("heads"); }), "heads by real(), but declares it as integer: read it by integer()"));
  CHECK(says(refusal([&] { values.integer("flag"); }), "flag by integer(), but declares it as boolean"));
  CHECK(says(refusal([&] { values.integer("map"); }), "read it by text()"));
  CHECK(says(refusal([&] { values.text("rate"); }), "read it by rate()"));
  CHECK(says(refusal([&] { values.file("map"); }), "read it by text()"));
  CHECK(says(refusal([&] { values.rates("rate"); }), "rate by rates()"));
  CHECK(says(refusal([&] { values.rate("rates"); }), "rates by rate()"));
  CHECK(says(refusal([&] { values.count("map"); }), "map by the context's parts or count()"));
}

TEST_CASE("a value outside its parameter's choices is refused when it is read") {
  const auto declared = describe(descriptor(kGood)).parameters;
  const JsonValues values({"", {{"heads", 2.5}, {"map", "tanh"}}}, declared, "[train]");
  CHECK_THROWS_WITH(values.integer("heads"), "heads of [train] is 2.5, expected an integer in [1, 64]");
  CHECK_THROWS_WITH(values.text("map"), "map of [train] is \"tanh\", expected one of relu, elu+1");
  CHECK_THROWS_WITH(values.boolean("flag"), "the section of [train] has no value of flag");
  const JsonValues plugin(plugin_from_json({{"plugin", ""}, {"map", {{"plugin", "tanh"}}}}), declared, "[train]");
  CHECK_THROWS_WITH(plugin.text("map"), "map of [train] is {\"plugin\":\"tanh\"}, expected one of relu, elu+1");
}

TEST_CASE("the last registered observer is notified of each read, on any thread") {
  const auto info = describe(descriptor(kGood));
  const PluginSpec given{"good", {{"heads", 2}, {"decay", 0.5}, {"flag", true}}};
  const JsonValues before(given, info);
  Reads outer;
  const JsonValues heard(given, info);
  before.integer("heads");
  CHECK_FALSE(outer.contains(info, "heads"));
  std::thread([&] { heard.integer("heads"); }).join();
  CHECK(outer.contains(info, "heads"));
  auto other = info;
  other.id = "other";
  CHECK_FALSE(outer.contains(other, "heads"));
  CHECK_THROWS(heard.integer("decay"));
  CHECK_FALSE(outer.contains(info, "decay"));
  {
    Reads inner;
    JsonValues(given, info).boolean("flag");
    CHECK(inner.contains(info, "flag"));
  }
  CHECK_FALSE(outer.contains(info, "flag"));
  JsonValues(given, info).real("decay");
  CHECK(outer.contains(info, "decay"));
}

TEST_CASE("a section can be changed so that a parameter is read, through a chain of conditions") {
  const Parameter all[] = {text("mode", "\"x\"", "x|y", ""), when("mode = y", boolean("deep", "false", "")),
                           when("deep = true", real("gap", "1", {0, 1}, "")), integer("heads", "2", {1, 64}, "")};
  const auto info = describe(descriptor(all));
  const json section{{"mode", "x"}, {"deep", false}, {"gap", 1.0}, {"heads", 2}};
  CHECK(reading(info, "heads", section) == section);
  const json deep{{"mode", "y"}, {"deep", true}, {"gap", 1.0}, {"heads", 2}};
  CHECK(reading(info, "gap", section) == deep);
  CHECK(reading(info, "gap", deep) == deep);
  const auto unmet = [&](const json& in) { return unmet_condition(info.parameters, *info.find("gap"), in); };
  CHECK(unmet(section) == "deep = true");
  CHECK(unmet({{"mode", "x"}, {"deep", true}}) == "mode = y");  // deep is read only if mode = y
  CHECK(unmet(deep) == "");
}

TEST_CASE("a host parameter can depend on two conditions, each with its own chain") {
  const Parameter all[] = {text("mode", "\"x\"", "x|y", ""), when("mode = y", boolean("deep", "false", "")),
                           integer("heads", "2", {1, 64}, ""), real("gap", "1", {0, 1}, "")};
  auto info = describe(descriptor(all));
  info.parameters.back().when = "heads > 2 and deep = true";
  const json section{{"mode", "x"}, {"deep", false}, {"gap", 1.0}, {"heads", 2}};
  const json read{{"mode", "y"}, {"deep", true}, {"gap", 1.0}, {"heads", 3}};
  CHECK(reading(info, "gap", section) == read);
  const auto unmet = [&](json changes) {
    auto in = read;
    in.update(changes);
    return unmet_condition(info.parameters, *info.find("gap"), in);
  };
  CHECK(unmet(json::object()) == "");
  CHECK(unmet({{"heads", 2}}) == "heads > 2");
  CHECK(unmet({{"deep", false}}) == "deep = true");
  CHECK(unmet({{"mode", "x"}}) == "mode = y");
  CHECK(holds("heads > 2 and deep = true", read));
  CHECK_FALSE(holds("heads > 2 and deep = false", read));
  CHECK_FALSE(holds("heads > 3 and deep = true", read));
}
