#include "core/trial/training/safetensors.h"

#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/util/error.h"
#include "core/util/regular_file.h"

namespace ablate {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

/// Returns the format's name of a type.
const char* type_name(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return "F64";
    case at::kFloat:
      return "F32";
    case at::kHalf:
      return "F16";
    case at::kBFloat16:
      return "BF16";
    case at::kLong:
      return "I64";
    case at::kInt:
      return "I32";
    case at::kShort:
      return "I16";
    case at::kChar:
      return "I8";
    case at::kByte:
      return "U8";
    case at::kBool:
      return "BOOL";
    default:
      throw Error(fmt::format("found a tensor of {}, which safetensors does not have", c10::toString(type)));
  }
}

std::string header_of(const NamedTensors& tensors) {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "pt"}}}};
  std::size_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto end = offset + tensor.nbytes();
    header[name] = {
        {"dtype", type_name(tensor.scalar_type())}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // aligns the tensors to 8 bytes
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, const NamedTensors& tensors) {
  const c10::NoGradGuard no_grad;
  const auto header = header_of(tensors);
  const std::uint64_t length = header.size();
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  failed = put_whole(file, [&](const TakePiece& take) {
    take({reinterpret_cast<const char*>(&length), sizeof(length)});
    take(header);
    for (const auto& [name, tensor] : tensors) {
      const auto here = tensor.detach().cpu().contiguous();
      take({static_cast<const char*>(here.const_data_ptr()), here.nbytes()});
    }
  });
  if (failed) throw Error(fmt::format("cannot write {}: {}", file.string(), failed.message()));
}

}  // namespace ablate
