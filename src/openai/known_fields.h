// The fields that this server knows by name and does not read: those that change nothing, and those that it cannot
// honour and therefore refuses, at every tier.
#pragma once

#include "openai/field_reader.h"

namespace samebit::openai {

// Takes every such field from the reader; fails with unsupported_parameter where one asks for what does not exist here.
void RefuseUnsupportedFields(FieldReader& fields);

}  // namespace samebit::openai
