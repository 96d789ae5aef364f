// ablate-identity: launches the compiler and the linker of a plugin, and stores a digest of the files that they read.
//   ablate-identity PROJECT COMMAND...           PROJECT: a file, see read_project
//   ablate-identity contract OUT SDK HEADER...   writes a source with the digests of the SDK's headers, see write_contract
// A compiled object gets a section with the digest of its sources and options. The linker joins the sections of all linked
// objects, also of static libraries, into one section of the plugin's library.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "ablate/plugin.h"
#include "core/util/error.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "tools/identity/code.h"

namespace {

using namespace ablate;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Name of an object's section. It has a line "made HEX64", then a line "ablate/task.h=HEX16" for each header of the SDK that
/// was read.
const std::string kRecord = ".ablate.made";

bool begins(const std::string& word, std::initializer_list<const char*> with) {
  return std::any_of(with.begin(), with.end(), [&](const char* part) { return word.starts_with(part); });
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& to, const std::string& text) {
  std::ofstream stream(to, std::ios::binary);
  if (!(stream << text << std::flush)) throw Error("cannot write " + to.string());
}

/// Runs a command, followed by the shell text `more`. A command that fails reports why; an Error without text is then thrown.
void run(const Words& words, const std::string& more = "") {
  std::string line;
  for (const auto& word : words) line += shell_word(word) + ' ';
  if (std::system((line + more).c_str()) != 0) throw Error("");
}

struct Project {
  fs::path sdk;                               ///< the SDK's include folder
  std::vector<fs::path> system;               ///< folders of headers, objects and libraries that do not count
  std::set<std::string> compilers, archives;  ///< archives: the SDK's own libraries, all of whose objects have a record
  std::map<std::string, std::string, std::greater<>> places;  ///< folder -> its name in options; subfolders first
};

/// @param file has "sdk DIR", "system DIR", "compiler PROGRAM", "archive FILE", "source DIR" or "build DIR" on each line
Project read_project(const std::string& file) {
  Project project;
  std::istringstream lines(content_of(file));
  for (std::string line; std::getline(lines, line);) {
    const auto key = line.substr(0, line.find(' ')), value = line.substr(std::min(key.size() + 1, line.size()));
    if (value.empty()) continue;  // the project has no compiler for this language
    if (key == "compiler")
      project.compilers.insert(value);
    else if (key == "source" || key == "build")
      project.places[value] = '<' + key + '>';
    else if (key == "archive")
      project.archives.insert(fs::weakly_canonical(value));
    else
      (key == "sdk" ? project.sdk : project.system.emplace_back()) = fs::weakly_canonical(value);
  }
  return project;
}

/// @param folder, file canonical
bool is_below(const fs::path& folder, const fs::path& file) { return file.string().starts_with((folder / "").string()); }

bool is_ours(const Project& project, const fs::path& file) {
  return is_below(project.sdk / "ablate", file) ||
         std::none_of(project.system.begin(), project.system.end(), [&](const auto& folder) { return is_below(folder, file); });
}

struct Command {
  bool compiles = false;
  std::string out, dependencies;
  Words options;  ///< options that may change the code
};

/// True if an option is about paths, warnings or debug information, or is counted in another way: Torch's version is in the ABI
/// stamp, and files count by their content.
bool is_left_out(const std::string& option) {
  return begins(option, {"-g", "-pedantic", "-fdiagnostics", "-fcolor", "-M", "-DABLATE_TORCH_VERSION=", "-fdebug-prefix-map=",
                         "-ffile-prefix-map=", "-fmacro-prefix-map=", "-Wl,-rpath"}) ||
         (begins(option, {"-W"}) && !begins(option, {"-Wp,", "-Wa,", "-Wl,"}));
}

std::string placed(std::string option, const Project& project) {
  for (const auto& [path, name] : project.places)
    for (auto at = option.find(path); at != std::string::npos; at = option.find(path)) option.replace(at, path.size(), name);
  return option;
}

Command read_command(Words words, const Project& project) {
  static const Words kPaths = {"-MT", "-MQ", "-I", "-isystem", "-iquote", "-idirafter", "-L", "-l"};
  Command command;
  // The compiler may have a launcher before it, such as ccache.
  std::size_t i = 0;
  while (i < words.size() && !project.compilers.contains(words[i])) ++i;
  const auto value = [&] { return ++i < words.size() ? words[i] : ""; };
  for (++i; i < words.size(); ++i) {
    const auto word = words[i];
    if (word.starts_with('@') || word == "--options-file") {
      std::ifstream file(word.starts_with('@') ? word.substr(1) : value());
      words.insert(words.begin() + std::min(i + 1, words.size()), std::istream_iterator<std::string>(file), {});
    } else if (word == "-c") {
      command.compiles = true;
    } else if (word == "-o") {
      command.out = value();
    } else if (word == "-MF") {
      command.dependencies = value();
    } else if (std::any_of(kPaths.begin(), kPaths.end(), [&](const auto& path) { return word.starts_with(path); })) {
      if (std::find(kPaths.begin(), kPaths.end(), word) != kPaths.end()) value();
    } else if (!is_left_out(word) && (word.starts_with('-') || !fs::exists(word))) {
      command.options.push_back(placed(word, project));
    }
  }
  return command;
}

/// Returns the files in a compiler's rules for make, except the targets.
std::vector<fs::path> listed(const std::string& rules) {
  std::vector<fs::path> files;
  std::istringstream words(rules);
  for (std::string word, more; words >> word;) {
    while (word.size() > 1 && word.back() == '\\' && words >> more) word.back() = ' ', word += more;
    if (word != "\\" && word.back() != ':') files.emplace_back(word);
  }
  return files;
}

/// Adds a record to an object. A file without a record counts by its content. Three kinds of files get no record: files that
/// are no objects, objects with unlisted content (.incbin, a precompiled header), and objects of link-time optimisation, whose
/// other sections the linker drops.
void record(const Command& command, const Project& project) {
  const auto object = content_of(command.out);
  if (!object.starts_with("\177ELF") || object.find(".gnu.lto_") != std::string::npos) return;
  Words parts;  // in the compiler's order, because exchanging the contents of two headers changes the code
  std::set<std::string> headers;
  for (const auto& named : listed(content_of(command.dependencies))) {
    const auto file = fs::weakly_canonical(named);
    if (named.extension() == ".gch" || named.extension() == ".pch" || !fs::exists(file)) return;
    if (!is_ours(project, file)) continue;
    const auto code = identity::read_code(content_of(file)), digest = sha256(code);
    if (code.find("incbin") != std::string::npos) return;
    parts.push_back(digest + (parts.empty() ? file.extension().string() : "") + '\n');  // the source comes first
    if (is_below(project.sdk / "ablate", file))
      headers.insert(file.lexically_relative(project.sdk).string() + '=' + digest.substr(0, 16) + '\n');
  }
  std::string all, text;
  for (const auto& part : parts) all += part;
  for (const auto& option : command.options) all += option + '\n';
  for (const auto& header : headers) text += header;
  const auto made = command.out + ".made", changed = command.out + ".changed";
  write(made, "made " + sha256(all) + '\n' + text);
  // A new file replaces the object, which may be a hard link into ccache's cache.
  run({"objcopy", "-R", kRecord, "--add-section", kRecord + '=' + made, command.out, changed});
  fs::rename(changed, command.out);
  fs::remove(made);
}

/// Returns a digest of a file's content. Objects and libraries count without debug information, which contains paths.
std::string digest_of(const fs::path& file, const std::string& scratch) {
  const bool is_code = begins(content_of(file), {"\177ELF", "!<arch>"});
  if (is_code) run({"objcopy", "-g", "-R", ".comment", "-R", ".note.gnu.build-id", file, scratch});
  return sha256(content_of(is_code ? fs::path(scratch) : file));
}

/// Writes a library's CodeStamp, if it has one.
/// @param trace files that the linker read, one per line; a member of a static library is "(libx.a)member.o"
/// @param rules files that the linker opened, also linker scripts, which the trace leaves out
void stamp(const Command& command, const Project& project, const std::string& trace, const std::string& rules) {
  const auto scratch = command.out + ".part";
  std::string all, sdk_headers;
  std::size_t records = 0, unknown = 0;
  std::set<fs::path> traced;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    const bool is_member = line.starts_with('(');
    const auto file = fs::weakly_canonical(is_member ? line.substr(1, line.rfind(')') - 1) : line);
    traced.insert(file);
    if (!fs::is_regular_file(file))
      ++unknown;
    else if (project.archives.contains(file))
      records += is_member;
    else if (!is_member && file.extension() == ".o" && content_of(file).find(kRecord) != std::string::npos)
      ++records;
    else if (!is_member && is_ours(project, file))
      all += digest_of(file, scratch) + '\n';
  }
  for (const auto& named : listed(rules))
    if (const auto file = fs::weakly_canonical(named);
        !traced.contains(file) && fs::is_regular_file(file) && is_ours(project, file) && !begins(content_of(file), {"!<arch>"}))
      all += digest_of(file, scratch) + '\n';
  if (records > 0) run({"objcopy", "--dump-section", kRecord + '=' + scratch, command.out, "/dev/null"});
  std::set<std::string> headers;
  std::istringstream made(records > 0 ? content_of(scratch) : "");
  for (std::string line; std::getline(made, line);)
    if (line.starts_with("made "))
      all += line + '\n', --records;
    else if (headers.insert(line).second)
      sdk_headers += (sdk_headers.empty() ? "" : " ") + line;
  for (const auto& option : command.options) all += option + '\n';
  CodeStamp code{};
  if (sdk_headers.size() >= sizeof(code.headers))
    throw Error(command.out + ": the names of the SDK's headers need " + std::to_string(sdk_headers.size()) +
                " bytes, expected less than " + std::to_string(sizeof(code.headers)));
  sdk_headers.copy(code.headers, sizeof(code.headers) - 1);
  if (unknown + records == 0)
    sha256(all).copy(code.identity, sizeof(code.identity) - 1);
  else
    std::fprintf(stderr,
                 "%s: warning: the linker read a file that ablate-identity cannot follow, so the library's code identity is "
                 "the hash of the binary\n",
                 command.out.c_str());
  write(scratch, {reinterpret_cast<const char*>(&code), sizeof(code)});
  if (content_of(command.out).find(kCodeSection) != std::string::npos)
    run({"objcopy", "--update-section", kCodeSection + ('=' + scratch), "-R", kRecord, command.out});
  fs::remove(scratch);
}

void launch(const Project& project, Words words) {
  auto command = read_command(words, project);
  if (!command.compiles) {
    const std::string trace = command.out + ".trace", option = "--dependency-file=";
    std::string rules;
    for (const auto& word : words)  // CMake asks for this file since 3.27
      if (const auto at = word.find(option); at < word.size()) rules = word.substr(at + option.size());
    const bool is_asked = !rules.empty();
    if (!is_asked) words.insert(words.end(), {"-Xlinker", option + (rules = command.out + ".rules")});
    words.emplace_back("-Wl,-t,-t");
    run(words, "> " + shell_word(trace));
    stamp(command, project, content_of(trace), content_of(rules));
    fs::remove(trace);
    if (!is_asked) fs::remove(rules);
    return;
  }
  const bool is_listed = !command.dependencies.empty();
  if (!is_listed) words.insert(words.end(), {"-MD", "-MF", command.dependencies = command.out + ".d"});
  run(words);
  record(command, project);
  if (!is_listed) fs::remove(command.dependencies);
}

/// Writes names and digests of `roots` and of the SDK's headers that they include, as in CodeStamp::headers. Leaves an equal
/// file as it is, so that an edited comment causes no compilation.
void write_contract(const fs::path& out, const fs::path& sdk, Words roots) {
  std::map<std::string, std::string> headers;
  while (!roots.empty()) {
    const auto name = roots.back();
    roots.pop_back();
    if (headers.contains(name)) continue;
    const auto code = identity::read_code(content_of(sdk / name));
    headers[name] = sha256(code).substr(0, 16);
    const std::string include = "#include \"";
    for (auto at = code.find(include); at != std::string::npos; at = code.find(include, at + 1)) {
      const auto start = at + include.size();
      roots.push_back(code.substr(start, code.find('"', start) - start));
    }
  }
  std::string text = "#include \"core/registry/abi_check.h\"\n\nconst char* const ablate::kContract =";
  for (const auto& [name, digest] : headers) text += "\n    \"" + name + '=' + digest + " \"";
  if (text += ";\n"; !fs::exists(out) || content_of(out) != text) write(out, text);
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 1, argv + argc);
  try {
    if (words.size() < 2) throw Error("expected PROJECT COMMAND..., or contract OUT SDK HEADER...");
    if (words[0] == "contract")
      write_contract(words[1], words.at(2), {words.begin() + 3, words.end()});
    else
      launch(read_project(words[0]), {words.begin() + 1, words.end()});
    return 0;
  } catch (const std::exception& error) {
    if (*error.what() != '\0') std::fprintf(stderr, "ablate-identity: %s\n", error.what());
    return 1;
  }
}
