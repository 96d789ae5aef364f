// Ways in which code or data get into a library. For each way, a library is built, edited and built again. The edit changes the
// number that the library returns. The identity must change, too. Ways that the identity cannot detect are marked, and
// docs/plugins.md lists them.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <map>

#include "core/registry/abi_check.h"
#include "core/util/sha256.h"
#include "tests/support/catch.h"
#include "tests/support/process.h"
#include "tests/support/temporary.h"

using namespace ablate;
namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

constexpr bool kUnseen = false;  ///< the identity does not detect this way

struct Way {
  const char* name;
  std::string source;  ///< x.cpp
  Files files;         ///< files beside x.cpp
  Files edit;          ///< new contents of files, with a 2 instead of a 1
  std::string options = "";
  std::string new_options = "-";  ///< options of the second build; "-": the same
  std::string before = ":";       ///< shell commands before x.cpp is compiled, in both builds
  std::string link = "";          ///< additional words for the linker
  bool is_seen = true;
  std::string more = "";  ///< another source that the project compiles, into more.o
};

const std::string kOne = "#define VALUE 1\n", kTwo = "#define VALUE 2\n";
const std::string kValue = "extern \"C\" int value() { return VALUE; }\n", kQuoted = "#include \"value.h\"\n" + kValue,
                  kAngle = "#include <value.h>\n" + kValue;
const std::string kHidden = "__attribute__((visibility(\"hidden\")))";
/// Source with a number that the assembler or the linker defines.
const std::string kAnswer = "asm(\".data\\n.globl at\\n.hidden at\\nat: .quad answer\\n.text\");\nextern \"C\" " + kHidden +
                            " long at;\nextern \"C\" int value() { return int(at); }\n";
const std::string kData =
    "extern \"C\" " + kHidden + " const char data[];\nextern \"C\" int value() { return data[0] - '0'; }\n";

/// @param make the end of the compiler's command: the object's name, and commands that make other files from the object
Way linked(const char* name, const std::string& make, const std::string& link) {
  return {name,
          "int y();\nextern \"C\" int value() { return y(); }\n",
          {{"y.cpp", "int y() { return 1; }\n"}},
          {{"y.cpp", "int y() { return 2; }\n"}},
          "",
          "-",
          "rm -f liby.*; " ABLATE_COMPILER " -fPIC -c y.cpp -o " + make,
          link};
}

std::vector<Way> ways() {
  const Files far{{"far/value.h", kOne}}, far_two{{"far/value.h", kTwo}}, here{{"value.h", kOne}}, two{{"value.h", kTwo}},
      words{{"words", "1"}}, words_two{{"words", "2"}};
  return {
      {"the source", kQuoted, {{"value.h", kOne}}, {{"x.cpp", kTwo + kValue}}},
      {"a header beside it", kQuoted, here, two},
      {"a header of a header", kQuoted, {{"value.h", "#include \"in.h\"\n"}, {"in.h", kOne}}, {{"in.h", kTwo}}},
      {"two headers that exchange their contents",
       "#include \"a.h\"\n#undef VALUE\n#include \"b.h\"\n" + kValue,
       {{"a.h", kTwo}, {"b.h", kOne}},
       {{"a.h", kOne}, {"b.h", kTwo}}},
      {"-I", kAngle, far, far_two, "-Ifar"},
      {"-iquote", kQuoted, far, far_two, "-iquote far"},
      {"-isystem", kAngle, far, far_two, "-isystem far"},
      {"-idirafter", kAngle, far, far_two, "-idirafter far"},
      {"CPATH", kAngle, {{"environment/value.h", kOne}}, {{"environment/value.h", kTwo}}},
      {"#include_next", kAngle, {{"near/value.h", "#include_next <value.h>\n"}, *far.begin()}, far_two, "-Inear -Ifar"},
      {"-include", kValue, here, two, "-include value.h"},
      {"-imacros", kValue, here, two, "-imacros value.h"},
      {"-D", kValue, {}, {}, "-DVALUE=1", "-DVALUE=2"},
      {"-Wp,-D", kValue, {}, {}, "-Wp,-DVALUE=1", "-Wp,-DVALUE=2"},
      {"a file of options", kValue, {{"options", "-DVALUE=1"}}, {{"options", "-DVALUE=2"}}, "@options"},
      {"-std", "#define VALUE (__cplusplus > 201703 ? 2 : 1)\n" + kValue, {}, {}, "-std=c++17", "-std=c++20"},
      {"an option of code", "#define VALUE (char(-1) < 0 ? 1 : 2)\n" + kValue, {}, {}, "-fsigned-char", "-funsigned-char"},
      {"an option of the assembler", kAnswer, {}, {}, "-Wa,--defsym,answer=1", "-Wa,--defsym,answer=2"},
      {.name = "an assembler's source",
       .source = kData,
       .files = {*here.begin(),
                 {"more.S", "#include \"value.h\"\n.section .rodata\n.globl data\n.hidden data\ndata: .byte VALUE + 48\n"}},
       .edit = two,
       .more = "more.S"},
      {"a header that a macro names", "#define NAME \"value.h\"\n#include NAME\n" + kValue, here, two},
      linked("an object", "y.o", "y.o"),
      linked("a static library", "y.o && ar rc liby.a y.o", "liby.a"),
      linked("a thin archive", "y.o && ar rcT liby.a y.o", "liby.a"),
      linked("an object of another ending", "y.obj", "y.obj"),
      {"--format=binary", "#define data _binary_words_start\n" + kData, words, words_two, "", "-", ":",
       "-Wl,--format=binary words -Wl,--format=default"},
      {"a neighbour of a link to a header",
       "#include \"links/value.h\"\n" + kValue,
       {{"real/value.h", "#include \"in.h\"\n"}, {"real/in.h", kOne}, {"links/in.h", kOne}},
       {{"links/in.h", kTwo}},
       "",
       "-",
       "ln -sf ../real/value.h links/value.h"},
      {"a neighbour of a link to a source",
       "",
       {{"real/x.cpp", kQuoted}, {"real/value.h", kOne}, *here.begin()},
       two,
       "",
       "-",
       "ln -sf real/x.cpp x.cpp"},
      {".incbin", "asm(\".section .rodata\\n.globl data\\n.hidden data\\ndata: .incbin \\\"words\\\"\\n.text\");\n" + kData,
       words, words_two},
      linked("a shared library of the project", "y.o && " ABLATE_COMPILER " -shared y.o -o liby.so", "liby.so -Wl,-rpath,$PWD"),
      {"--defsym of the linker",
       kAnswer,
       {},
       {},
       "",
       "-",
       ":",
       "-Wl,--defsym=answer=$(cat answer 2>/dev/null || echo 1; echo 2 > answer)"},
      {"a linker script",
       kAnswer,
       {{"answer.ld", "SECTIONS { answer = 1; } INSERT AFTER .data;\n"}},
       {{"answer.ld", "SECTIONS { answer = 2; } INSERT AFTER .data;\n"}},
       "",
       "-",
       ":",
       "-Wl,-T,answer.ld"},
      {"a file that the library opens",
       "extern \"C\" int open(const char*, int, ...);\nextern \"C\" long read(int, void*, unsigned long);\n"
       "extern \"C\" int value() { char c = 0; read(open(\"words\", 0), &c, 1); return c - '0'; }\n",
       words, words_two, "", "-", ":", "", kUnseen},
  };
}

class Project {
 public:
  explicit Project(const Way& way) : way_(way) {
    if (!way.source.empty()) write({{"x.cpp", way.source}});
    write({{"code.cpp",
            "extern const char code[];\n__attribute__((section(\".ablate.code\"), used)) const char code[4096] = {};\n"}});
    write(way.files);
  }
  void write(const Files& files) const {
    for (const auto& [name, text] : files) folder_.write(name, text);
  }
  const fs::path& folder() const { return folder_.path(); }

  /// Builds the library. Returns the result of value() and the library's identity.
  /// @param launcher words before the compiler
  std::pair<int, std::string> built(const std::string& options, const std::string& launcher = "") const {
    const auto launched = fmt::format("{} {} {} {} -fPIC ", ABLATE_IDENTITY, ABLATE_PROJECT, launcher, ABLATE_COMPILER);
    std::string script = "set -e; " + way_.before, objects = "x.o code.o";
    if (!way_.more.empty()) objects += " more.o";
    for (const auto& [source, object] : Files{{"x.cpp", "x.o"}, {"code.cpp", "code.o"}, {way_.more, "more.o"}})
      if (!source.empty()) script += fmt::format("; {}{} -c {} -o {}", launched, options, source, object);
    script += fmt::format("; {}-shared {} {} -o x.so", launched, objects, way_.link);
    const auto made = Process({"sh", "-c", script}, {}, folder_.path().string()).wait();
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const auto code = code_identity_in(folder_ / "x.so");
    return {number(), code.empty() ? sha256_file(folder_ / "x.so") : code};
  }

 private:
  int number() const {
    const auto here = fs::current_path();
    fs::current_path(folder_.path());
    void* const library = dlopen((folder_ / "x.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    INFO((library == nullptr ? dlerror() : ""));
    REQUIRE(library != nullptr);
    const int found = reinterpret_cast<int (*)()>(dlsym(library, "value"))();
    dlclose(library);
    fs::current_path(here);
    return found;
  }

  const Way& way_;
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("each input of a library changes its identity, except for the marked inputs") {
  for (const auto& way : ways()) {
    INFO(way.name);
    const Project project(way);
    setenv("CPATH", (project.folder() / "environment").c_str(), 1);
    const auto [one, identity] = project.built(way.options);
    project.write(way.edit);
    const auto [two, other] = project.built(way.new_options == "-" ? way.options : way.new_options);
    unsetenv("CPATH");
    CHECK(one == 1);
    CHECK(two == 2);
    CHECK((other != identity) == way.is_seen);
  }
}

TEST_CASE("comments, paths, warnings, debug information and compiler launchers do not change an identity") {
  const Files far{{"far/value.h", kOne}};
  const Way way{"-D", "#include <value.h>\n" + kValue, far, {}}, elsewhere = way;
  const Project project(way), other(elsewhere);
  const auto [one, identity] = project.built("-DX=1 -Ifar -O1");
  CHECK(identity.size() == 64);
  CHECK(other.built("-O1 -DX=1 -Ifar").second != identity);
  project.write({{"x.cpp", "// A comment.\n#include <value.h> /* and\n another */\n" + kValue}});
  CHECK(project.built("-Wall -g -DX=1 -isystem far -MD -MF x.d -MT x.o -pedantic -O1", "env -u B A=1").second == identity);
  CHECK(other.built("-DX=1 -Ifar -O1").second == identity);
}
