#pragma once

#include "machine/machine.h"
#include "machine/root.h"

namespace nameplate {

Cpu read_cpu(const Root& root);

}  // namespace nameplate
