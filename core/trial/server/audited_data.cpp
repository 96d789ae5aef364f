#include "core/trial/server/audited_data.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "core/trial/server/planned_library.h"
#include "core/trial/server/task_files.h"
#include "core/util/error.h"

namespace ablate {

std::unique_ptr<Task> audited_data(LoadedParts& loaded, const Libraries& libraries, const PluginSpec& section,
                                   const std::string& digest) {
  at::set_num_threads(1);
  try {
    loaded.load(libraries);
  } catch (const LibraryReplaced& replaced) {
    throw Error(replaced.what());  // of other code the data are not to blame
  }
  auto made = loaded.make_task(section, all_cores());
  made->info();
  made->load();
  if (made->digest() != digest)
    throw Error(fmt::format("the data of {} have changed since its digest was asked: run the command again", section.id));
  return made;
}

}  // namespace ablate
