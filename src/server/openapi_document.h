// The OpenAPI 3.1 document of this server: openapi.json beside this file, carried inside the program.
#pragma once

#include <string_view>

namespace samebit::server {

std::string_view OpenApiDocument();

}  // namespace samebit::server
