// The image plugin, and small files in CIFAR-10's form for it.
#pragma once

#include <array>

#include "tests/plugins/task.h"

namespace ablate::tests {

/// Loads images from a folder of data.
inline std::unique_ptr<Task> load_images(const fs::path& folder, nlohmann::json changes = {}) {
  if (!changes.contains("dev")) changes["dev"] = 10;
  changes["data"] = folder.string();
  return load_task("image", changes, folder);
}

/// Returns the error message of a failed load.
inline std::string refusal(const fs::path& folder, const nlohmann::json& changes = {}) {
  return message_of([&] { load_images(folder, changes); });
}

/// Returns records whose planes are constant.
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
  /// Packs the batches as published, in a folder and not in numeric order, and removes them. Leaves out the batch `without`.
  fs::path pack(const std::string& without = "") const {
    const auto members = folder.path() / "cifar-10-batches-bin", archive = file("cifar-10-binary.tar.gz");
    fs::create_directory(members);
    std::string names;
    for (const std::string name : {"data_batch_1.bin", "batches.meta.txt", "data_batch_3.bin", "data_batch_4.bin",
                                   "test_batch.bin", "readme.html", "data_batch_5.bin", "data_batch_2.bin"}) {
      if (name == without) continue;
      if (fs::exists(file(name)))
        fs::rename(file(name), members / name);
      else
        write_text(members / name, "a text");
      names += " cifar-10-batches-bin/" + name;
    }
    REQUIRE(std::system(("tar -C '" + folder.path().string() + "' -czf '" + archive.string() + "'" + names).c_str()) == 0);
    fs::remove_all(members);
    return archive;
  }
};

}  // namespace ablate::tests
