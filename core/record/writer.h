// Writes records as JSON Lines: one record, one line, one write.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace nameplate {

// The version of schema/record.schema.json that this program implements.
inline constexpr int kSchema = 1;

// A destination of records.
class RecordSink {
 public:
  RecordSink() = default;
  RecordSink(const RecordSink&) = delete;
  RecordSink& operator=(const RecordSink&) = delete;
  RecordSink(RecordSink&&) = delete;
  RecordSink& operator=(RecordSink&&) = delete;
  virtual ~RecordSink() = default;

  virtual void write(const nlohmann::json& record) = 0;
};

class RecordWriter final : public RecordSink {
 public:
  // `descriptor` is an open file that the writer does not own.
  explicit RecordWriter(int descriptor) : descriptor_(descriptor) {}

  // Throws std::system_error if the line cannot be written completely (the reader is gone, the disk is full).
  void write(const nlohmann::json& record) override;

  // Writes a record that is already text, without its end of line. Throws as `write`.
  void write_line(std::string line) const;
  // Writes text as it is. Throws as `write`.
  void write_text(std::string_view text) const;

 private:
  int descriptor_;
};

}  // namespace nameplate
