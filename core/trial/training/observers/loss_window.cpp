// Curve of the training loss. Each point is the mean since the previous point.
#include "core/trial/training/observer.h"

namespace ablate {
namespace {

constexpr std::int64_t kCurvePoints = 200;  ///< upper limit

class LossWindow final : public Observer {
 public:
  explicit LossWindow(const Observed& observed)
      : steps_(observed.train.steps), length_((steps_ + kCurvePoints - 1) / kCurvePoints) {}

  void step_ends(std::int64_t step, std::optional<double> loss, Curve& curve) override {
    if (loss) sum_ += *loss, ++count_;
    if ((++in_window_ < length_ && step != steps_) || count_ == 0) return;
    latest_ = training_score("train/loss", sum_ / static_cast<double>(count_));
    curve.add(latest_->info, step, latest_->value);
    sum_ = 0, count_ = 0, in_window_ = 0;
  }
  void end(std::vector<Scored>& scores) const override {
    if (latest_) scores.push_back(*latest_);
  }

  nlohmann::json save() const override {
    return {in_window_, count_, sum_, latest_ ? nlohmann::json(latest_->value) : nlohmann::json()};
  }
  void load(const nlohmann::json& saved) override {
    in_window_ = saved.at(0), count_ = saved.at(1), sum_ = saved.at(2);
    latest_.reset();
    if (!saved.at(3).is_null()) latest_ = training_score("train/loss", saved.at(3));
  }

 private:
  std::int64_t steps_, length_;  ///< steps of the training; steps of a window
  std::int64_t in_window_ = 0, count_ = 0;
  double sum_ = 0;
  std::optional<Scored> latest_;
};

}  // namespace

std::unique_ptr<Observer> observers::loss_window(const Observed& observed) { return std::make_unique<LossWindow>(observed); }

}  // namespace ablate
