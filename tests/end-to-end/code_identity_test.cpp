// Edits that change a plugin's code identity, and edits that do not. The plugin is built out of tree with an installed ablate.
#include <nlohmann/json.hpp>

#include "tests/end-to-end/stranger.h"

namespace {

constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.25)
project(stranger CXX)
find_package(ablate 0.1 REQUIRED)
add_library(helper STATIC helper.cpp)
set_target_properties(helper PROPERTIES POSITION_INDEPENDENT_CODE ON)
ablate_add_plugin(my-task TORCH_FREE SOURCES my_task.cpp LIBRARIES helper)
target_compile_definitions(my-task PRIVATE HERE="${CMAKE_SOURCE_DIR}/data" THERE="${CMAKE_BINARY_DIR}/data")
)";

constexpr const char* kUsed = R"(
#pragma once
int help(int x);
inline const char* used() { return R"x(a // b)x"; }
inline int twice(int x) { return 2 * help(x); }
)";

/// Writes the folder "my-task": a task, headers in a subfolder, a header that nothing includes, and its own static library.
void write_project(const Stranger& stranger) {
  stranger.output_of("ablate new task my-task; mkdir my-task/parts");
  const auto folder = stranger.work() / "my-task";
  const auto source = read_text(folder / "my_task.cpp");
  std::ofstream(folder / "my_task.cpp") << "#include \"parts/first.h\"\n" << source << "\nint kept = twice(1) + used()[0];\n";
  std::ofstream(folder / "parts/first.h") << "#pragma once\n#include \"used.h\"\n";
  std::ofstream(folder / "parts/used.h") << kUsed;
  std::ofstream(folder / "parts/unused.h") << "int unused();\n";
  std::ofstream(folder / "helper.cpp") << "int help(int x) { return x + 1; }\n";
  std::ofstream(folder / "CMakeLists.txt") << kProject;
}

void replace_in(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  auto text = read_text(file);
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  std::ofstream(file) << text.replace(at, from.size(), to);
}

/// Builds again without configuring, as after an edit, and returns the code identity.
std::string identity(const Stranger& stranger, const std::string& build) {
  stranger.output_of("cmake --build " + build + " --target my-task");
  const auto said = nlohmann::json::parse(stranger.output_of("ablate --plugins " + build + " plugins my-task --format json"));
  const auto digest = said.at("code_digest").get<std::string>();
  CHECK(digest.size() == 64);
  return digest;
}

}  // namespace

TEST_CASE("a plugin's code identity covers exactly its own files that the compiler and the linker read", "[identity]") {
  Stranger stranger;
  stranger.install();
  write_project(stranger);
  stranger.output_of("cmake -G Ninja -S my-task -B build");
  const auto folder = stranger.work() / "my-task";
  auto last = identity(stranger, "build");
  const auto same = [&](const std::string& what) {
    INFO(what);
    CHECK(identity(stranger, "build") == last);
  };
  const auto other = [&](const std::string& what) {
    INFO(what);
    const auto now = identity(stranger, "build");
    CHECK(now != last);
    last = now;
  };

  replace_in(folder / "parts/used.h", "#pragma once", "// what it is for\n#pragma   once /* and\nmore */");
  replace_in(folder / "my_task.cpp", "int kept = twice(1)", "int   kept\n=\ntwice( 1 ) /* kept */");
  same("a comment, white space");
  replace_in(folder / "parts/unused.h", "int", "long");
  same("a header that nothing includes");
  replace_in(folder / "CMakeLists.txt", "LIBRARIES helper)",
             "LIBRARIES helper)\ntarget_compile_options(my-task PRIVATE -Wall -g)");
  same("warnings and debug information");
  replace_in(folder / "helper.cpp", "int", "// a comment\nint");
  same("a comment of a static library");

  replace_in(folder / "parts/used.h", "a // b", "a // c");
  other("what looks like a comment in a string");
  replace_in(folder / "parts/used.h", "2 * help(x)", "3 * help(x)");
  other("a header in a subfolder that another header includes");
  replace_in(folder / "helper.cpp", "x + 1", "x + 2");
  other("a static library");
  replace_in(folder / "CMakeLists.txt", "-Wall", "-ffast-math");
  other("a compile option");
  replace_in(folder / "CMakeLists.txt", "HERE=", "MORE=1 HERE=");
  other("a definition");
  replace_in(folder / "CMakeLists.txt", "-ffast-math", "-std=c++23");
  other("the language's standard");
  replace_in(folder / "CMakeLists.txt", "target_compile_definitions(",
             "target_link_options(my-task PRIVATE -ffast-math)\ntarget_compile_definitions(");
  other("an object that a linker option adds");
  replace_in(stranger.home() / "ablate/include/ablate/task.h", "#pragma once",
             "#pragma once  // which\n// the compiler skips\n");
  same("a comment of the SDK");
  replace_in(stranger.home() / "ablate/include/ablate/linear.h", "#pragma once", "#pragma once\nstruct NotForTasks {};\n");
  same("a header of the SDK that the plugin does not include");

  // The identity stays the same in another source folder and another build folder, and with the SDK of the tree.
  stranger.output_of("mkdir far; mv my-task far/away; rm -r build");
  stranger.output_of("cmake -G Ninja -S far/away -B far/built -DCMAKE_PREFIX_PATH=" ABLATE_BUILD_DIR);
  CHECK(identity(stranger, "far/built") == last);
  // It also stays the same with another generator.
  stranger.output_of("cmake -G 'Unix Makefiles' -S far/away -B made -Dablate_DIR=" ABLATE_BUILD_DIR);
  CHECK(identity(stranger, "made") == last);
}

TEST_CASE("a plugin that was built against another contract is refused, whatever its SDK version", "[identity]") {
  Stranger stranger;
  stranger.install();
  stranger.output_of("ablate new task my-task; cmake -G Ninja -S my-task -B build");
  const auto sdk = stranger.home() / "ablate/include/ablate";
  replace_in(sdk / "attention.h", "namespace ablate {", "namespace ablate {\nstruct NotForTasks {};");
  CHECK(identity(stranger, "build").size() == 64);
  const auto before = read_text(sdk / "task.h");
  replace_in(sdk / "task.h", "virtual ", "virtual int one_more() { return 0; }\n  virtual ");
  stranger.output_of("cmake --build build --target my-task");
  const auto listed = stranger.shell("ablate --plugins build plugins");
  INFO(listed.out << listed.err);
  CHECK(says(listed.out + listed.err, "built with another ablate/task.h"));
  CHECK(says(listed.out + listed.err, "rebuild the plugin against this host's SDK"));
  std::ofstream(sdk / "task.h") << "// A comment is no contract.\n" << before;
  CHECK(identity(stranger, "build").size() == 64);
}
