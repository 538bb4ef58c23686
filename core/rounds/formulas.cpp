#include "rounds/formulas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "rounds/statistics.h"

namespace nameplate {

namespace {

using nlohmann::json;
using Values = std::vector<double>;

Operand operand_from(const std::string& place) {
  const std::size_t first = place.find('/');
  const std::size_t last = place.rfind('/');
  return {.is_of_sample = place.compare(0, first, "sample") == 0,
          .parent = last > first ? place.substr(first + 1, last - first - 1) : "",
          .key = place.substr(last + 1)};
}

Product product_from(const json& text) {
  Product result;
  for (const json& place : text.at("times")) result.times.push_back(operand_from(place));
  for (const json& place : text.at("over")) result.over.push_back(operand_from(place));
  return result;
}

std::vector<Product> products_from(const json& text) {
  std::vector<Product> result;
  for (const json& product : text) result.push_back(product_from(product));
  return result;
}

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

class Round {
 public:
  Round(const SampleColumns& samples, const JsonLine& outcome) : samples_(samples), outcome_(outcome) {}

  std::optional<double> value(const Formula& formula) {
    return formula.share ? percentile(*formula.share) : quotient(formula);
  }

 private:
  std::optional<double> percentile(double share) {
    if (!has_operations_) {
      auto buckets = samples_.buckets();
      if (!buckets) return kUnknown;
      operations_ = TimedOperations(std::move(*buckets));
      has_operations_ = true;
    }
    return operations_.percentile_s(share);
  }

  std::optional<double> quotient(const Formula& formula) const {
    const Values numerators = sum(formula.numerator);
    const Values divisors = sum(formula.denominator);
    Values quotients;
    for (std::size_t i = 0; i < divisors.size(); ++i) {
      if (divisors[i] == 0) continue;
      quotients.push_back(numerators[i] / divisors[i]);
      if (!std::isfinite(quotients.back())) return kUnknown;
    }
    if (quotients.empty()) return std::nullopt;
    return median_of(std::move(quotients));
  }

  Values sum(const std::vector<Product>& products) const {
    Values result(samples_.rows(), 0);
    for (const Product& product : products) {
      Values values(samples_.rows(), 1);
      for (const Operand& operand : product.times) apply(operand, values, std::multiplies<>());
      for (const Operand& operand : product.over) apply(operand, values, std::divides<>());
      std::ranges::transform(result, values, result.begin(), std::plus<>());
    }
    return result;
  }

  void apply(const Operand& operand, Values& values, auto operation) const {
    const Place place{.parent = operand.parent, .key = operand.key};
    if (!operand.is_of_sample) {
      const double number = outcome_.number_at(place).value_or(kUnknown);
      for (double& value : values) value = operation(value, number);
      return;
    }
    const std::span<const double> column = samples_.column(place);
    if (column.empty()) {
      std::ranges::fill(values, kUnknown);
    } else {
      std::ranges::transform(values, column, values.begin(), operation);
    }
  }

  const SampleColumns& samples_;
  const JsonLine& outcome_;
  TimedOperations operations_;
  bool has_operations_ = false;
};

}  // namespace

Formula formula_from(const json& text) {
  if (text.contains("share")) return {.numerator = {}, .denominator = {}, .share = text["share"].get<double>()};
  return {.numerator = products_from(text.at("numerator")),
          .denominator = products_from(text.at("denominator")),
          .share = std::nullopt};
}

std::vector<std::optional<double>> values_of(const std::vector<Formula>& formulas, const SampleColumns& samples,
                                             const JsonLine& outcome) {
  Round round(samples, outcome);
  std::vector<std::optional<double>> result;
  for (const Formula& formula : formulas) result.push_back(round.value(formula));
  return result;
}

}  // namespace nameplate
