#include "tools/identity/objects.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>

#include "core/util/error.h"
#include "core/util/sha256.h"

namespace ablate::identity {
namespace {

namespace fs = std::filesystem;

struct File {
  File(const fs::path& path, int flags) : descriptor(open(path.c_str(), flags | O_CLOEXEC)) {
    if (descriptor < 0) throw Error("cannot open " + path.string() + ": " + std::strerror(errno));
  }
  ~File() { close(descriptor); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int descriptor;
};

using ElfFile = std::unique_ptr<Elf, int (*)(Elf*)>;

ElfFile begin(const File& file, Elf* archive = nullptr) {
  elf_version(EV_CURRENT);
  return {elf_begin(file.descriptor, ELF_C_READ, archive), &elf_end};
}

/// Calls visit(name, header, section) for each section.
template <class F>
void each_section(Elf* elf, F visit) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    if (const char* name = elf_strptr(elf, names, header.sh_name); name != nullptr)
      visit(std::string_view(name), header, section);
  }
}

std::string code_of_object(Elf* elf) {
  std::string code;
  each_section(elf, [&](std::string_view name, const GElf_Shdr& header, Elf_Scn* section) {
    if (name.starts_with(".debug") || name.starts_with(".rela.debug") || name == ".comment" || name == ".shstrtab") return;
    code += std::string(name) + ' ' + std::to_string(header.sh_size) + '\n';
    if (header.sh_type == SHT_NOBITS) return;
    if (const Elf_Data* data = elf_rawdata(section, nullptr); data != nullptr && data->d_buf != nullptr)
      code += sha256({static_cast<const char*>(data->d_buf), data->d_size}) + '\n';
  });
  return code;
}

}  // namespace

std::vector<LinkerInput> linker_inputs(const fs::path& map) {
  std::ifstream stream(map);
  if (!stream) throw Error("the linker wrote no map, " + map.string());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  constexpr std::string_view kLoad = "\nLOAD ";
  std::vector<LinkerInput> inputs;
  std::set<std::string> seen;
  for (auto at = text.find(kLoad); at != std::string::npos; at = text.find(kLoad, at + 1)) {
    const auto start = at + kLoad.size();
    auto name = text.substr(start, text.find('\n', start) - start);
    if (!seen.insert(name).second) continue;
    LinkerInput input{.file = name, .members = {}};
    // Wherever a member is spoken of, it was linked: "libhelper.a(helper.cpp.o)".
    name += '(';
    for (auto member = text.find(name); member != std::string::npos; member = text.find(name, member + 1)) {
      const auto first = member + name.size();
      input.members.insert(text.substr(first, text.find(')', first) - first));
    }
    inputs.push_back(std::move(input));
  }
  if (inputs.empty()) throw Error(map.string() + " names no input: expected a map of GNU ld");
  return inputs;
}

bool is_thin_archive(const fs::path& path) {
  constexpr std::string_view kThin = "!<thin>\n";
  std::string start(kThin.size(), '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kThin;
}

std::string code_of_objects(const fs::path& path, const std::set<std::string>& members) {
  const File file(path, O_RDONLY);
  const auto elf = begin(file);
  if (!elf || elf_kind(elf.get()) == ELF_K_NONE) return sha256_file(path);
  if (elf_kind(elf.get()) != ELF_K_AR) return code_of_object(elf.get());
  std::string code;
  for (auto member = begin(file, elf.get()); member;) {
    const Elf_Arhdr* header = elf_getarhdr(member.get());
    if (header != nullptr && header->ar_name != nullptr && members.contains(header->ar_name)) {
      std::size_t size = 0;
      code += std::string(header->ar_name) + '\n';
      if (elf_kind(member.get()) == ELF_K_ELF)
        code += code_of_object(member.get());
      else if (const char* raw = elf_rawfile(member.get(), &size))
        code += sha256({raw, size}) + '\n';
    }
    const auto next = elf_next(member.get());
    member.reset();
    if (next == ELF_C_NULL) break;
    member.reset(elf_begin(file.descriptor, next, elf.get()));
  }
  return code;
}

bool write_section(const fs::path& library, const char* section, std::string_view content) {
  const File file(library, O_RDWR);
  const auto elf = begin(file);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) throw Error(library.string() + " is no ELF file");
  bool found = false;
  each_section(elf.get(), [&](std::string_view name, const GElf_Shdr& header, Elf_Scn*) {
    if (found || name != section || header.sh_type == SHT_NOBITS) return;
    found = true;
    if (content.size() > header.sh_size)
      throw Error(library.string() + ": its section " + section + " has " + std::to_string(header.sh_size) +
                  " bytes, expected " + std::to_string(content.size()));
    if (pwrite(file.descriptor, content.data(), content.size(), static_cast<off_t>(header.sh_offset)) !=
        static_cast<ssize_t>(content.size()))
      throw Error("cannot write " + library.string() + ": " + std::strerror(errno));
  });
  return found;
}

}  // namespace ablate::identity
