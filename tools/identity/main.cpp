// ablate-identity: what ablate_add_plugin runs after a library is linked, and what tells the host its own SDK's headers.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "ablate/plugin.h"
#include "core/util/error.h"
#include "tools/identity/identity.h"
#include "tools/identity/objects.h"

namespace {

using namespace ablate;
using namespace ablate::identity;
namespace fs = std::filesystem;

/// Into the library's CodeStamp. A library without one is left as it is: the host says what is wrong with it.
void stamp(const fs::path& library, const Build& build) {
  const auto found = identity_of(build);
  for (const auto& warning : found.warnings) std::fprintf(stderr, "%s: warning: %s\n", library.c_str(), warning.c_str());
  CodeStamp code{};
  if (found.headers.size() >= sizeof(code.headers))
    throw Error(library.string() + ": the names of the SDK's headers need " + std::to_string(found.headers.size()) +
                " bytes, expected less than " + std::to_string(sizeof(code.headers)));
  found.code.copy(code.identity, sizeof(code.identity) - 1);
  found.headers.copy(code.headers, sizeof(code.headers) - 1);
  write_section(library, kCodeSection, {reinterpret_cast<const char*>(&code), sizeof(code)});
}

std::string contract_source(const fs::path& sdk, const std::vector<std::string>& roots) {
  return "#include \"core/registry/abi_check.h\"\n\nconst char* const ablate::kContract =\n    \"" + contract_of(sdk, roots) +
         "\";\n";
}

/// A file that says the same is left as it is, so that nothing is compiled again for a comment.
void write(const fs::path& to, const std::string& text) {
  std::ifstream there(to);
  if (there && std::string(std::istreambuf_iterator<char>(there), {}) == text) return;
  std::ofstream stream(to);
  if (!(stream << text << std::flush)) throw Error("cannot write " + to.string());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What a plugin library is made of");
  app.require_subcommand(1);
  Build build;
  fs::path library, out;
  std::vector<std::string> places, roots;
  std::vector<fs::path> objects;
  auto* stamping = app.add_subcommand("stamp", "Writes a library's code identity into it");
  stamping->add_option("library", library)->required();
  stamping->add_option("--map", build.map)->required();
  stamping->add_option("--folder", build.folders);
  stamping->add_option("--system-objects", build.system_objects);
  stamping->add_option("--system-libraries", build.system_libraries);
  stamping->add_option("--cuda", build.cuda_sources);
  auto* contract = app.add_subcommand("contract", "Writes a source file with the host's own headers");
  contract->add_option("out", out)->required();
  contract->add_option("roots", roots)->required();
  auto* members = app.add_subcommand("members", "Lists a static library's members with the digests of their code");
  members->add_option("out", out)->required();
  members->add_option("objects", objects)->required();
  for (auto* command : {stamping, members}) {
    command->add_option("--commands", build.compile_commands)->required();
    command->add_option("--system-headers", build.system_headers);
    command->add_option("--place", places, "PATH=NAME");
  }
  for (auto* command : {stamping, members, contract}) command->add_option("--sdk", build.sdk)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto& place : places) {
      const auto at = place.rfind('=');
      build.places.emplace_back(place.substr(0, at), place.substr(at + 1));
    }
    // Longest first: a build folder inside of a project's.
    std::sort(build.places.begin(), build.places.end(),
              [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
    if (stamping->parsed())
      stamp(library, build);
    else
      write(out, members->parsed() ? members_of(build, objects) : contract_source(build.sdk, roots));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ablate-identity: %s\n", error.what());
    return 1;
  }
}
