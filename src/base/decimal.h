// Numbers as the shortest decimal that reads back as the same bits: one form in JSON, reports and fingerprints.
#pragma once

#include <string>

namespace samebit {

// Precondition: finite where the text must be read back; otherwise "inf" or "nan".
std::string Decimal(float value);
std::string Decimal(double value);

}  // namespace samebit
