// What of a compiler's command makes other code.
#include "tools/identity/command.h"

#include "tests/support/catch.h"

using namespace ablate::identity;

namespace {

std::vector<std::string> options(const std::string& line, const std::string& source = "x.cpp") {
  return read_command(shell_words(line), source, "/build", {{"/home/me/project", "<source>"}}).options;
}

}  // namespace

TEST_CASE("a shell's words") {
  CHECK(shell_words(R"(a  "b c" 'd "e' f\ g -DX=\"y\" "q\"r" '')") ==
        std::vector<std::string>{"a", "b c", "d \"e", "f g", "-DX=\"y\"", "q\"r", ""});
}

TEST_CASE("options and definitions count; paths, warnings and debug information do not") {
  const std::string plain = "/usr/bin/ccache /usr/bin/c++ -O3 -std=c++20 -o x.o -c x.cpp";
  CHECK(options(plain) == std::vector<std::string>{"-O3", "-std=c++20"});
  CHECK(options("clang++ -I/a -isystem /b -O3 -Wall -g -MD -MF x.d -std=c++20 -o y/x.o -c /z/x.cpp") == options(plain));
  CHECK(options("c++ -O2 -std=c++20 -o x.o -c x.cpp") != options(plain));
  CHECK(options("c++ -O3 -Wp,-DX -std=c++20 -o x.o -c x.cpp") != options(plain));
  CHECK(options("c++ --param a=1 -c x.cpp") != options("c++ --param a=2 -c x.cpp"));
  CHECK(options("c++ -DD=\\\"/home/me/project/data\\\" -c x.cpp") == std::vector<std::string>{"-DD=\"<source>/data\""});
  CHECK(options("c++ -DD=/home/me/projects -c x.cpp") == std::vector<std::string>{"-DD=/home/me/projects"});
}

TEST_CASE("of CUDA only what CMake does not give by itself counts: without a toolkit it is the same method") {
  const std::string given = "nvcc -forward-unknown-to-host-compiler -O3 -DNDEBUG -std=c++20 --generate-code=arch=compute_90 ";
  CHECK(options(given + "-Xcompiler=-fPIC -MD -MT x.o -MF x.d -x cu -c x.cu -o x.o", "x.cu").empty());
  CHECK(options(given + "-use_fast_math -x cu -c x.cu -o x.o", "x.cu") == std::vector<std::string>{"-use_fast_math"});
}

TEST_CASE("folders and forced headers are read from either form") {
  const auto command =
      read_command(shell_words("c++ -I/a -isystem b -iquote /c -include first.h -c x.cpp"), "x.cpp", "/build", {});
  CHECK(command.folders == std::vector<std::filesystem::path>{"/a", "/build/b", "/c"});
  CHECK(command.forced == std::vector<std::filesystem::path>{"first.h"});
}
