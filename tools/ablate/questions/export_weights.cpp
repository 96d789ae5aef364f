#include "db/questions/exports/export_weights.h"

#include <memory>

#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/output_file.h"
#include "tools/ablate/questions/questions.h"

namespace ablate {

void add_export_weights(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    std::string attempt;
    OutputFile out;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("weights", "The best weights of one attempt, as safetensors");
  command->add_option("ATTEMPT", arguments->attempt, "its number, or the first digits of its trial's key")
      ->required()
      ->check(not_empty())
      ->type_name("");
  add_out(command, arguments->out);
  command->get_option("--out")->required();
  command->footer(
      "A run stores them if its study sets keep_weights = true in [experiment].\n"
      "Example:\n  ablate export weights 1 --out best.safetensors");
  command->callback([arguments, database, &exit_code] {
    const db::Reader reader(database());
    const db::WeightsFile weights(reader, arguments->attempt);
    arguments->out.put_bytes([&](const db::Write& write) { weights.write(write); });
    exit_code = 0;
  });
}

}  // namespace ablate
