// Workplaces with their own plugin, whose code can change from one run to the next.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"
#include "tests/support/edited_code.h"

inline const std::string kStudy = kTiny + "[attention]\nplugin = \"softmax\"\n[grid]\nseeds = [1, 2]\n";

/// Workplace with its own softmax, whose code can change from one run to the next without changing its numbers.
struct Place : Workplace {
  Place() {
    std::filesystem::create_directory(folder() / "plugins");
    std::filesystem::copy(std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/softmax.so", library());
    set("ABLATE_PLUGIN_PATH", (folder() / "plugins").string());
    file = study(kStudy).string();
  }
  std::filesystem::path library() const { return folder() / "plugins/softmax.so"; }

  void edit(char with) { edit_code(library(), with); }

  std::string said(std::vector<std::string> arguments, int exit_code = 0) {
    arguments.insert(arguments.begin(), {"run", file});
    const auto ended = run(arguments);
    INFO(ended.out << ended.err);
    CHECK(ended.exit_code == exit_code);
    return ended.out + ended.err;
  }

  void change_history(const std::string& sql) {
    SQLite::Database database((folder() / "ablate.db").string(), SQLite::OPEN_READWRITE);
    REQUIRE(database.exec(sql) > 0);
  }

  std::string file;
};

/// Workplace with a study of a task that reads its data from a file.
struct DataPlace : Place {
  DataPlace() {
    std::filesystem::copy(kFaulty + "trial/faulty_task.so", folder() / "plugins");
    const auto model = kTiny.substr(kTiny.find("[model]"));
    file = study("[experiment]\nname = \"tiny\"\n[task]\nplugin = \"faulty-task\"\ndata = \"set\"\n" + model +
                 "[attention]\nplugin = \"softmax\"\n")
               .string();
  }
};
