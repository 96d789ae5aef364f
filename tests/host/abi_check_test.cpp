// The check before loading: no code of a refused library runs.
#include "core/registry/abi_check.h"

#include <elf.h>

#include <cstring>

#include "tests/support/catch.h"
#include "tests/support/says.h"
#include "tests/support/temporary.h"

using namespace ablate;

namespace {

const std::filesystem::path kBuild = ABLATE_BUILD_DIR;
const std::filesystem::path kGood = kBuild / "lib/ablate/plugins/linear.so";

std::string refusal(const std::filesystem::path& path) { return abi_refusal(path, ABLATE_TORCH_VERSION); }

}  // namespace

TEST_CASE("a plugin of this build is accepted") { CHECK(refusal(kGood) == ""); }

TEST_CASE("the code identity of a library is known before it is loaded") {
  CHECK(code_identity_in(kGood).size() == 64);
  CHECK(code_identity_in(kBuild / "no-such.so") == "");
  CHECK(code_identity_in(std::filesystem::path(ABLATE_SOURCE_DIR) / "README.md") == "");
}

TEST_CASE("another version of torch is refused, and the message names both versions") {
  const auto why = abi_refusal(kGood, "1.13.1");
  CHECK(says(why, "1.13.1"));
  CHECK(says(why, ABLATE_TORCH_VERSION));
  CHECK(says(why, "rebuild"));
}

TEST_CASE("another SDK version is refused, and the message names both versions") {
  const auto why = refusal(kBuild / "tests/faulty-plugins/load/old_sdk.so");
  CHECK(says(why, "SDK version 999"));
  CHECK(says(why, "this host has " + std::to_string(ABLATE_SDK_VERSION)));
}

TEST_CASE("every field of the stamp is compared, except the compiler") {
  const auto own = abi_stamp();
  CHECK(abi_difference(own, own) == "");
  const auto changed = [&](auto change) {
    auto other = own;
    change(other);
    return abi_difference(other, own);
  };
  CHECK(changed([](auto& s) { s.magic[0] = 'X'; }) != "");
  CHECK(changed([](auto& s) { ++s.sdk_version; }) != "");
  CHECK(changed([](auto& s) { ++s.stamp_size; }) != "");
  CHECK(changed([](auto& s) { ++s.descriptor_size; }) != "");
  CHECK(changed([](auto& s) { ++s.parameter_size; }) != "");
  CHECK(changed([](auto& s) { s.cxx11_abi = 1 - s.cxx11_abi; }) != "");
  CHECK(changed([](auto& s) { s.torch_version[0] = '9'; }) != "");
  CHECK(changed([](auto& s) { s.compiler[0] = '9'; }) == "");  // reported, but not compared
}

TEST_CASE("files that are not plugins are refused, and the message names their kind") {
  const TemporaryFolder folder;
  CHECK(says(refusal(folder.write("text.so", "this is no library\n")), "no ELF file"));
  CHECK(says(refusal(folder.write("empty.so", "")), "no ELF file"));
  CHECK(says(refusal(folder / "absent.so"), "cannot be read"));
  CHECK(says(refusal(folder.path()), "no shared library"));
  const auto whole = read_text(kGood);
  CHECK(says(refusal(folder.write("cut.so", whole.substr(0, whole.size() / 2))), "cut off"));
  auto far = whole;
  const Elf64_Off nowhere = UINT64_MAX - 63;  // plus the size of a section header: overflows to 0
  std::memcpy(far.data() + offsetof(Elf64_Ehdr, e_shoff), &nowhere, sizeof(nowhere));
  CHECK(says(refusal(folder.write("far.so", far)), "cut off or damaged"));
  auto small = whole;
  small[EI_CLASS] = ELFCLASS32;
  CHECK(says(refusal(folder.write("32.so", small)), "32-bit"));
  auto foreign = whole;
  const Elf64_Half machine = EM_PPC64;
  std::memcpy(foreign.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof(machine));
  CHECK(says(refusal(folder.write("foreign.so", foreign)), "another processor"));
  CHECK(says(refusal("/proc/self/exe"), ".ablate.abi"));
}

TEST_CASE("a library cut anywhere never crashes the check") {
  const TemporaryFolder folder;
  const auto whole = read_text(kGood);
  for (std::size_t size = 0; size < whole.size(); size += 997)
    CHECK(refusal(folder.write("cut.so", whole.substr(0, size))) != "");
}

TEST_CASE("a header that the host and a plugin both read must have the same code in both") {
  const std::string own = "ablate/plugin.h=0123 ablate/task.h=4567";
  CHECK(contract_difference(own, own) == "");
  CHECK(contract_difference("ablate/plugin.h=0123", own) == "");  // a plugin need not include every header of the SDK
  CHECK(contract_difference("ablate/linear.h=ffff ablate/plugin.h=0123", own) == "");  // the host does not read linear.h
  const auto why = contract_difference("ablate/plugin.h=0123 ablate/task.h=ffff", own);
  CHECK(says(why, "another ablate/task.h (its code is ffff, this host's is 4567): rebuild"));
  for (const auto* none : {"", "ablate/linear.h=0123", "nonsense"})
    CHECK(says(contract_difference(none, own), "ablate_add_plugin"));
}
