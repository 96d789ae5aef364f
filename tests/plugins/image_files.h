// The image plugin, and small files in CIFAR-10's form for it.
#pragma once

#include <array>

#include "tests/plugins/task.h"

namespace ablate::tests {

/// From a folder of data.
inline std::unique_ptr<Task> load_images(const fs::path& folder, nlohmann::json changes = {}) {
  if (!changes.contains("dev")) changes["dev"] = 10;
  changes["data"] = folder.string();
  return load_task("image", changes, folder);
}

/// Why it does not load.
inline std::string refusal(const fs::path& folder, const nlohmann::json& changes = {}) {
  return message_of([&] { load_images(folder, changes); });
}

/// Records whose planes are constant.
inline Bytes cifar_batch(const std::vector<std::array<std::uint8_t, 4>>& label_red_green_blue) {
  Bytes bytes;
  for (const auto& [label, red, green, blue] : label_red_green_blue) {
    bytes.push_back(label);
    for (const auto plane : {red, green, blue}) bytes.insert(bytes.end(), 1024, plane);
  }
  return bytes;
}

struct CifarFolder {
  TemporaryFolder folder;
  explicit CifarFolder(const std::string& ending = "") {
    for (int batch = 1; batch <= 5; ++batch)
      write_bytes(file("data_batch_" + std::to_string(batch) + ".bin" + ending),
                  cifar_batch({{static_cast<std::uint8_t>(batch), 10, 20, 30}, {0, static_cast<std::uint8_t>(batch), 0, 0}}));
    auto test = cifar_batch({{9, 255, 255, 255}, {0, 255, 0, 0}, {1, 0, 255, 0}, {2, 0, 0, 255}, {3, 100, 50, 200}});
    test[4 * 3073 + 1 + 5] = 0;  // red of the last picture's sixth pixel
    write_bytes(file("test_batch.bin" + ending), test);
  }
  fs::path file(const std::string& name) const { return folder.path() / name; }
};

}  // namespace ablate::tests
