// The metrics of a probe as nameplate declares them in JSON, and their values in one round of an experiment.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "rounds/sample_columns.h"

namespace nameplate {

// A place in a sample or in the outcome of its experiment, such as "outcome/params/threads".
struct Operand {
  bool is_of_sample;
  std::string parent;
  std::string key;
};

// A product, then divided by numbers, in this order: 1 without operands.
struct Product {
  std::vector<Operand> times;
  std::vector<Operand> over;
};

// A quotient of two sums of products, or with a share the percentile of single operations.
struct Formula {
  std::vector<Product> numerator;
  std::vector<Product> denominator;
  std::optional<double> share;
};

// Throws nlohmann::json::exception if it is not written as by src/nameplate/probes/shared/formulas.py.
Formula formula_from(const nlohmann::json& text);

// Returns the values of metrics in a round, in the order of the formulas: of a quotient the median of the samples whose
// divisor is not 0. Nothing if there are no such samples, or for a percentile too few operations; NaN if it cannot be
// computed, since a place is missing or a value of a sample is not finite.
std::vector<std::optional<double>> values_of(const std::vector<Formula>& formulas, const SampleColumns& samples,
                                             const JsonLine& outcome);

}  // namespace nameplate
