// The descriptors 0, 1 and 2, which the program that started this one may have closed.
#pragma once

namespace nameplate {

// Opens closed standard streams on /dev/null. Otherwise the next file or socket would get the number of one, and
// receive the records. Reading finds nothing, messages go nowhere, and writing to standard output fails, so that a loss
// of records is not taken for success. Call it before anything is opened.
void open_standard_streams();

}  // namespace nameplate
