#include "tools/identity/identity.h"

#include <algorithm>
#include <fstream>
#include <set>

#include "core/util/error.h"
#include "core/util/sha256.h"
#include "tools/identity/included.h"
#include "tools/identity/objects.h"

namespace ablate::identity {
namespace {

namespace fs = std::filesystem;

std::string listed(const std::map<std::string, std::string>& headers) {
  std::string list;
  for (const auto& [name, digest] : headers) list += (list.empty() ? "" : " ") + name + "=" + digest.substr(0, 16);
  return list;
}

class Collector {
 public:
  explicit Collector(const Build& build)
      : build_(build),
        commands_(read_commands(build.compile_commands, build.places)),
        included_(build.sdk, build.system_headers) {}

  Identity collect() {
    for (const auto& input : linker_inputs(build_.map))
      if (const auto file = found(input.file); !file.empty() && seen_.insert(file).second) add(file, input.members);
    for (const auto& source : build_.cuda_sources) add_code(source, folders_, true);
    Identity identity{sha256(all_), listed(included_.sdk_headers()), {}};
    unknown_.insert(included_.unknown().begin(), included_.unknown().end());
    for (const auto& what : unknown_)
      identity.warnings.push_back(what + ": the library's code identity is the hash of the binary");
    if (!identity.warnings.empty()) identity.code.clear();
    return identity;
  }

 private:
  /// "" for what is there no longer: objects that the linker made itself, optimising.
  fs::path found(const fs::path& input) const {
    for (const auto& folder : build_.folders) {
      std::error_code absent;
      const auto file = fs::canonical(folder / input, absent);
      if (!absent) return file;
    }
    return {};
  }

  void add(const fs::path& file, const std::set<std::string>& members) {
    if (const auto known = commands_.find(file); known != commands_.end())
      add_compiled(known->second);
    else if (file.extension() == ".o" && is_system_object(file))
      add_system_object(file);
    else if (is_thin_archive(file))
      unknown_.insert(file.string() + ": is a thin archive, whose members are not followed");
    else if (file.extension() == ".a" ? !is_system_library(file) && !add_listed(file, members) : !is_shared_library(file))
      add_part(code_of_objects(file, members));  // whatever its name: an .obj, data that --format=binary links
  }

  /// "libhelper.so", "libhelper.so.1"
  static bool is_shared_library(const fs::path& file) {
    const auto name = file.filename().string();
    return name.ends_with(".so") || name.find(".so.") != std::string::npos;
  }

  /// Those that every library has are the compiler's; another is there for an option: crtfastmath.o, for -ffast-math.
  void add_system_object(const fs::path& file) {
    const auto name = file.filename().string();
    if (!name.starts_with("crti") && !name.starts_with("crtn") && !name.starts_with("crtbegin") && !name.starts_with("crtend"))
      add_part(name);
  }

  /// @return whether there is a list of its members
  bool add_listed(const fs::path& library, const std::set<std::string>& members) {
    std::ifstream list(library.string() + kMembersFile);
    for (std::string line; std::getline(list, line);)
      if (members.contains(line.substr(0, line.find(' ')))) add_part(line);
    return list.is_open();
  }

  void add_compiled(const Command& command) {
    const bool is_cuda = command.source.extension() == ".cu";
    for (const auto& option : command.options) add_part(option);
    // CUDA's code is added at the end, compiled or not, and finds its headers as the other sources do.
    if (is_cuda) return;
    for (const auto& folder : command.folders)
      if (std::find(folders_.begin(), folders_.end(), folder) == folders_.end()) folders_.push_back(folder);
    for (const auto& forced : command.forced) add_forced(forced, command.folders);
    add_code(command.source, command.folders);
  }

  void add_forced(const fs::path& forced, std::vector<fs::path> folders) {
    folders.insert(folders.begin(), build_.folders.begin(), build_.folders.end());
    for (const auto& folder : folders)
      if (fs::is_regular_file(folder / forced)) return add_code(folder / forced, folders);
    throw Error("no file " + forced.string() + ", which the compiler was told to include first");
  }

  void add_code(const fs::path& source, const std::vector<fs::path>& folders, bool may_lack = false) {
    add_part(source.extension().string());
    add_part(included_.code_of(source, folders, may_lack));
  }

  void add_part(const std::string& part) { all_ += sha256(part) + '\n'; }

  bool is_system_object(const fs::path& file) const {
    const auto folder = file.parent_path();
    return std::any_of(build_.system_objects.begin(), build_.system_objects.end(),
                       [&](const auto& system) { return fs::weakly_canonical(system) == folder; });
  }
  bool is_system_library(const fs::path& file) const {
    const auto name = file.stem().string();
    return name.ends_with("_nonshared") || std::any_of(build_.system_libraries.begin(), build_.system_libraries.end(),
                                                       [&](const auto& system) { return name == "lib" + system; });
  }

  const Build& build_;
  std::map<fs::path, Command> commands_;
  Included included_;
  std::vector<fs::path> folders_;  ///< of all compiled sources
  std::set<fs::path> seen_;
  std::set<std::string> unknown_;
  std::string all_;
};

}  // namespace

std::string members_of(const Build& build, const std::vector<fs::path>& objects) {
  const auto commands = read_commands(build.compile_commands, build.places);
  std::map<std::string, std::string> members;
  for (const auto& object : objects) {
    const auto command = commands.find(fs::canonical(object));
    if (command == commands.end()) throw Error(object.string() + " is not in " + build.compile_commands.string());
    Included included(build.sdk, build.system_headers);
    auto code = included.code_of(command->second.source, command->second.folders);
    for (const auto& option : command->second.options) code += option + '\n';
    members[object.filename().string()] = sha256(code);
  }
  std::string list;
  for (const auto& [name, digest] : members) list += name + ' ' + digest + '\n';
  return list;
}

Identity identity_of(const Build& build) { return Collector(build).collect(); }

std::string contract_of(const fs::path& sdk, const std::vector<std::string>& roots) {
  Included included(sdk, {});
  for (const auto& root : roots) included.code_of(sdk / root, {});
  return listed(included.sdk_headers());
}

}  // namespace ablate::identity
