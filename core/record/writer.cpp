#include "record/writer.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

namespace nameplate {

void RecordWriter::write(const nlohmann::json& record) {
  write_line(record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void RecordWriter::write_line(std::string line) const {
  line += '\n';
  write_text(line);
}

void RecordWriter::write_text(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "cannot write a record");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace nameplate
