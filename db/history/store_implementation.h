// What a Store hides. Internal to db/.
#pragma once

#include "db/history/store.h"
#include "db/history/store_file.h"

namespace ablate::db {

struct Store::Implementation : StoreFile {
  using StoreFile::StoreFile;
};

}  // namespace ablate::db
