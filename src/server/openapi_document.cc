#include "server/openapi_document.h"

namespace samebit::server {

std::string_view OpenApiDocument() {
  // One string literal, made from openapi.json by the build.
  static constexpr std::string_view kDocument =
#include SAMEBIT_OPENAPI_LITERAL
      ;
  return kDocument;
}

}  // namespace samebit::server
