// Which headers count, and what is said where one of them is not known.
#include "tools/identity/included.h"

#include <cstdlib>

#include "tests/support/catch.h"
#include "tests/support/temporary.h"
#include "tools/identity/identity.h"

using namespace ablate::identity;
namespace fs = std::filesystem;

namespace {

struct Tree {
  Tree() {
    for (const char* name : {"sdk", "system", "first", "second", "far"}) fs::create_directory(folder / name);
  }
  std::string code(const std::string& source) {
    folder.write("x.cpp", source);
    Included included(folder / "sdk", {folder / "system"});
    const auto all = included.code_of(folder / "x.cpp", {folder / "first", folder / "second"});
    unknown = included.unknown();
    return all;
  }
  TemporaryFolder folder;
  std::set<std::string> unknown;
};

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Of a library that the linker made of these files.
Identity linked(const TemporaryFolder& folder, const std::vector<std::string>& files) {
  std::string map = "Linker script and memory map\n";
  for (const auto& file : files) map += "\nLOAD " + (folder / file).string() + "\n";
  Build build;
  build.map = folder.write("linked.map", map);
  build.compile_commands = folder / "none.json";
  build.folders = {folder.path()};
  build.sdk = folder / "sdk";
  build.system_objects = {folder / "compiler"};
  return identity_of(build);
}

}  // namespace

TEST_CASE("a header of the environment's folders counts") {
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    INFO(variable);
    Tree tree;
    tree.folder.write("far/far.h", "int far_away;\n");
    setenv(variable, (":" + (tree.folder / "far").string()).c_str(), 1);
    const auto code = tree.code("#include <far.h>\n");
    unsetenv(variable);
    CHECK(holds(code, "far_away"));
    CHECK(tree.unknown.empty());
  }
}

TEST_CASE("of several headers of a name all count, whichever the compiler takes") {
  Tree tree;
  tree.folder.write("first/both.h", "#include_next <both.h>\nint one;\n");
  tree.folder.write("second/both.h", "int two;\n");
  const auto code = tree.code("#include <both.h>\n");
  CHECK(holds(code, "one"));
  CHECK(holds(code, "two"));
  CHECK(tree.unknown.empty());
}

TEST_CASE("a header that is not found is not known, and one of the system does not count") {
  Tree tree;
  tree.folder.write("system/ready.h", "int of_the_system;\n#include <inner.h>\n");
  CHECK_FALSE(holds(tree.code("#include <ready.h>\n"), "of_the_system"));
  CHECK(tree.unknown.empty());
  tree.code("#include <absent.h>\n");
  REQUIRE(tree.unknown.size() == 1);
  CHECK(holds(*tree.unknown.begin(), "x.cpp: includes absent.h, which was not found"));
  tree.folder.write("first/only.h", "#include_next <only.h>\n");
  tree.code("#include <only.h>\n");
  REQUIRE(tree.unknown.size() == 1);
  CHECK(holds(*tree.unknown.begin(), "only.h: includes only.h, which was not found"));
  tree.code("#include SAID\n");
  CHECK(tree.unknown.size() == 1);
}

TEST_CASE("an object of the compiler that an option links is another code") {
  TemporaryFolder folder;
  fs::create_directory(folder / "compiler");
  for (const char* name : {"compiler/crti.o", "compiler/crtbeginS.o", "compiler/crtfastmath.o"}) folder.write(name, "");
  const auto plain = linked(folder, {"compiler/crti.o"}).code;
  CHECK(plain.size() == 64);
  CHECK(linked(folder, {"compiler/crti.o", "compiler/crtbeginS.o"}).code == plain);
  CHECK(linked(folder, {"compiler/crti.o", "compiler/crtfastmath.o"}).code != plain);
}

TEST_CASE("a thin archive is not known") {
  TemporaryFolder folder;
  folder.write("thin.a", "!<thin>\n");
  folder.write("whole.a", "!<arch>\n");
  CHECK(linked(folder, {"whole.a"}).code.size() == 64);
  const auto thin = linked(folder, {"thin.a"});
  CHECK(thin.code.empty());
  REQUIRE(thin.warnings.size() == 1);
  CHECK(holds(thin.warnings[0], "thin.a: is a thin archive, whose members are not followed"));
}
