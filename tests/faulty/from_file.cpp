// An attention that reads a number from a file, and then changes or removes the file.
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "ablate/attention.h"
#include "ablate/linear.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::file("table", "\"\"", "a number, by which values are multiplied"),
    ablate::text("then", "\"keep\"", "keep|write-in-training|remove-in-training|write-in-factory|swap-in-factory",
                 "change of the file; the factory makes it from its second call on"),
};

class FromFile final : public ablate::Attention {
 public:
  explicit FromFile(const ablate::AttentionContext& context)
      : table_(std::filesystem::absolute(context.parameters.file("table"))), then_(context.parameters.text("then")) {
    const auto seen = table_.string() + ".seen";
    const bool again = std::filesystem::exists(seen);
    if (then_.ends_with("-in-factory")) std::ofstream(seen) << "seen";
    std::ifstream(table_) >> scale_;
    if (again && then_ == "write-in-factory") write("3");
    if (again && then_ == "swap-in-factory") {
      std::ofstream(table_.string() + ".new") << "2";
      std::filesystem::rename(table_.string() + ".new", table_);
    }
    value_ = register_module("value", ablate::make_linear(context.d_model, context.d_model, true, context.generator));
  }

 private:
  ablate::AttentionOutput do_forward(const ablate::AttentionInput& input) override {
    const auto& mask = input.mask;
    const auto context = mask.defined() ? input.context.masked_fill(mask.logical_not().unsqueeze(-1), 0) : input.context;
    return {.output = value_->forward(context) * scale_};
  }

  void do_step(std::int64_t, const ablate::Generator&) override {
    if (then_ == "write-in-training") write("3");
    if (then_ == "remove-in-training") std::filesystem::remove(table_);
  }

  void write(const char* text) const { std::ofstream(table_) << text; }

  std::filesystem::path table_;
  std::string then_;
  double scale_ = 0;
  std::shared_ptr<ablate::Linear> value_;
};

}  // namespace

ABLATE_ATTENTION(FromFile, {.id = "from-file",
                            .version = "1.0.0",
                            .summary = "values times a number from a file",
                            .capabilities = {.key_padding = true},
                            .parameters = parameters})
