// Sends texts of any length from one rank to another.
#pragma once

#include <string>

namespace nameplate {

void send_text(const std::string& text, int to);

// Waits asleep.
std::string receive_text(int from);

}  // namespace nameplate
