#include "core/registry/abi_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "core/util/bytes_text.h"

namespace ablate {
namespace {

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
};

std::string text_of(const char* field, std::size_t size) { return {field, strnlen(field, size)}; }

/// Machine type of this host in ELF.
constexpr GElf_Half kMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__aarch64__)
    EM_AARCH64;
#else
    EM_NONE;
#endif

/// Parses "name=digest name=digest".
std::map<std::string_view, std::string_view> parse_headers(std::string_view list) {
  std::map<std::string_view, std::string_view> headers;
  while (!list.empty()) {
    const auto word = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    if (const auto at = word.find('='); at != std::string_view::npos) headers[word.substr(0, at)] = word.substr(at + 1);
  }
  return headers;
}

/// Returns the start of a section, or nullopt if no section has this name or it is shorter than `least`.
template <class T>
std::optional<T> read_section(Elf* elf, const char* wanted, std::size_t least) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, wanted) != 0) continue;
    T found{};
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr || data->d_size < least) return std::nullopt;
    std::memcpy(&found, data->d_buf, std::min(data->d_size, sizeof(found)));
    return found;
  }
  return std::nullopt;
}

}  // namespace

std::string code_identity_in(const std::filesystem::path& library) {
  const File file{open(library.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0 || elf_version(EV_CURRENT) == EV_NONE) return "";
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.descriptor, ELF_C_READ, nullptr), &elf_end);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return "";
  const auto code = read_section<CodeStamp>(elf.get(), kCodeSection, sizeof(CodeStamp));
  return code ? text_of(code->identity, sizeof(code->identity)) : "";
}

std::string contract_difference(std::string_view found, std::string_view expected) {
  const auto theirs = parse_headers(found), ours = parse_headers(expected);
  bool is_any = false;
  for (const auto& [name, digest] : theirs) {
    const auto own = ours.find(name);
    if (own == ours.end()) continue;  // a header that only plugins use
    is_any = true;
    if (own->second != digest)
      return fmt::format(
          "built with another {} (its code is {}, this host's is {}): rebuild the plugin against this host's SDK", name, digest,
          own->second);
  }
  return is_any ? "" : "does not name the SDK headers that it was built with: build it with ablate_add_plugin";
}

std::string abi_difference(const AbiStamp& found, const AbiStamp& expected) {
  const auto differs = [](const char* what, auto a, auto b) {
    return fmt::format("built with {} {}, this host has {}: rebuild the plugin against this host's SDK", what, a, b);
  };
  if (std::memcmp(found.magic, expected.magic, sizeof(found.magic)) != 0)
    return "its ABI stamp does not begin with ABLATE: the file is damaged, or no plugin";
  if (found.sdk_version != expected.sdk_version) return differs("SDK version", found.sdk_version, expected.sdk_version);
  if (found.stamp_size != expected.stamp_size) return differs("an ABI stamp of size", found.stamp_size, expected.stamp_size);
  if (found.descriptor_size != expected.descriptor_size)
    return differs("a descriptor of size", found.descriptor_size, expected.descriptor_size);
  if (found.parameter_size != expected.parameter_size)
    return differs("a parameter of size", found.parameter_size, expected.parameter_size);
  if (found.cxx11_abi != expected.cxx11_abi) return differs("_GLIBCXX_USE_CXX11_ABI", found.cxx11_abi, expected.cxx11_abi);
  const auto torch = text_of(found.torch_version, sizeof(found.torch_version)),
             own = text_of(expected.torch_version, sizeof(expected.torch_version));
  if (torch != own) return differs("torch", torch, own);
  return "";
}

AbiStamp host_stamp(const std::string& torch_version) {
  auto stamp = abi_stamp();
  std::memset(stamp.torch_version, 0, sizeof(stamp.torch_version));
  torch_version.copy(stamp.torch_version, sizeof(stamp.torch_version) - 1);
  return stamp;
}

std::string abi_refusal(const std::filesystem::path& library, const std::string& torch_version) {
  // Without O_NONBLOCK, open would wait if the file is a pipe.
  const File file{open(library.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.descriptor < 0) return fmt::format("cannot be read: {}", std::strerror(errno));
  struct stat status {};
  if (fstat(file.descriptor, &status) != 0) return fmt::format("cannot be read: {}", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return "is no shared library (no regular file)";
  if (const auto size = static_cast<std::uintmax_t>(status.st_size); size > kMostLibraryBytes)
    return fmt::format("has {}, expected at most {} of a plugin's library", bytes_text(size), bytes_text(kMostLibraryBytes));
  if (elf_version(EV_CURRENT) == EV_NONE) return "libelf is too old";
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.descriptor, ELF_C_READ, nullptr), &elf_end);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return "is no shared library (no ELF file)";
  GElf_Ehdr header;
  if (gelf_getehdr(elf.get(), &header) == nullptr) return fmt::format("its ELF header cannot be read: {}", elf_errmsg(-1));
  if (gelf_getclass(elf.get()) != ELFCLASS64) return "is a 32-bit library, and this host is a 64-bit one";
  if (header.e_type != ET_DYN) return "is no shared library (an ELF file of another type)";
  if (header.e_machine != kMachine)
    return fmt::format("was built for another processor (ELF machine {}, expected {})", header.e_machine, kMachine);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto table = static_cast<std::uint64_t>(header.e_shnum) * header.e_shentsize;
  if (header.e_shoff > size || table > size - header.e_shoff)  // the sum might overflow
    return fmt::format("is cut off or damaged: found {} bytes, expected a section table of {} bytes from byte {} on", size,
                       table, header.e_shoff);
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf.get(), &names) != 0) return "is damaged: its section names cannot be read";
  const auto stamp = read_section<AbiStamp>(elf.get(), kAbiSection, sizeof(AbiStamp::magic) + 2 * sizeof(std::uint32_t));
  if (stamp) {
    if (auto why = abi_difference(*stamp, host_stamp(torch_version)); !why.empty()) return why;
    const auto code = read_section<CodeStamp>(elf.get(), kCodeSection, sizeof(CodeStamp));
    return contract_difference(code ? text_of(code->headers, sizeof(code->headers)) : "", kContract);
  }
  return fmt::format("has no section {}: export one plugin with ABLATE_ATTENTION, ABLATE_COMPRESSION or ABLATE_TASK",
                     kAbiSection);
}

}  // namespace ablate
