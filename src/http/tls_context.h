// OpenSSL's settings for the connections of one server: TLS 1.2 and 1.3, HTTP/1.1. Internal to http.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>

#include "http/tls.h"

namespace samebit::http {

// Failures: those of CheckTls.
Result<std::unique_ptr<boost::asio::ssl::context>> MakeTlsContext(const TlsFiles& files);

}  // namespace samebit::http
