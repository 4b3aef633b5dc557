#include "server/openapi_document.h"

namespace samebit::server {

extern const std::string_view kOpenApiJson;  // made from openapi.json by the build (cmake/embed.cmake)

std::string_view OpenApiDocument() { return kOpenApiJson; }

}  // namespace samebit::server
