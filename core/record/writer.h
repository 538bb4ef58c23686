// Writes records as JSON Lines: one record, one line, one write.
#pragma once

#include <atomic>
#include <cstddef>
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
  // `descriptor` is an open file that the writer does not own. A reader that reads nothing is waited for, but only five
  // seconds once `stop_requested` is set, and signals that are blocked arrive meanwhile. Without `stop_requested`, the
  // default action of signals has to end the wait.
  explicit RecordWriter(int descriptor, const std::atomic<bool>* stop_requested = nullptr);

  // Throws std::system_error if the line cannot be written completely (the reader is gone or waits, the disk is full).
  void write(const nlohmann::json& record) override;

  // Writes a record that is already text, without its end of line. Throws as `write`.
  void write_line(std::string line) const;
  // Writes text as it is. Throws as `write`.
  void write_text(std::string_view text) const;

 private:
  void wait_for_room() const;

  int descriptor_;
  const std::atomic<bool>* stop_requested_;
  std::size_t max_write_bytes_;  // that a reader has room for when poll says so
};

// Prints a message to standard error. If it cannot be written within five seconds, it is dropped with all later ones.
void print_message(std::string_view text) noexcept;

}  // namespace nameplate
