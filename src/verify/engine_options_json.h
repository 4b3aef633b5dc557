// Engine options as JSON: one form for the report and for the job of a restarted process.
#pragma once

#include "base/json_writer.h"
#include "engine/options.h"
#include "verify/json_fields.h"

namespace samebit::verify {

// Writes one object.
void WriteEngineOptions(JsonWriter& out, const engine::EngineOptions& options);

// What WriteEngineOptions wrote. Every field must be there; in.error() (kMalformed) names the one that is wrong.
engine::EngineOptions ReadEngineOptions(JsonFields& in);

}  // namespace samebit::verify
