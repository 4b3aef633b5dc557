#include "http/tls_context.h"

#include <openssl/ssl.h>

#include <string_view>

namespace samebit::http {
namespace {

namespace ssl = boost::asio::ssl;

// The only protocol spoken here, as ALPN writes it. A client that offers others only is answered without one.
int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                   unsigned int in_size, void*) {
  static constexpr std::string_view kHttp11 = "http/1.1";
  for (unsigned int at = 0; at < in_size; at += 1u + in[at]) {
    const unsigned char size = in[at];
    if (at + 1u + size > in_size) break;
    if (std::string_view(reinterpret_cast<const char*>(in + at + 1), size) != kHttp11) continue;
    *out = in + at + 1;
    *out_size = size;
    return SSL_TLSEXT_ERR_OK;
  }
  return SSL_TLSEXT_ERR_NOACK;
}

Error Wrong(const char* what, const std::string& path, const boost::system::error_code& error) {
  const bool from_system = error.category() == boost::system::system_category();
  return {from_system ? ErrorCode::kIo : ErrorCode::kMalformed,
          std::string(what) + " " + path + ": " + error.message()};
}

}  // namespace

Result<std::unique_ptr<ssl::context>> MakeTlsContext(const TlsFiles& files) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  // What came before 1.2 is broken, and no client of today needs it.
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_alpn_select_cb(context->native_handle(), ChooseProtocol, nullptr);
  boost::system::error_code error;
  // Without this OpenSSL would ask at the terminal.
  context->set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context->use_certificate_chain_file(files.certificate, error);
  if (error) return Wrong("TLS: expected a PEM certificate in", files.certificate, error);
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error)
    return Wrong("TLS: expected the certificate's key, as PEM and without a password, in", files.key, error);
  if (SSL_CTX_check_private_key(context->native_handle()) != 1)
    return Error{ErrorCode::kMalformed, "TLS: " + files.key + " is not the key of " + files.certificate};
  return context;
}

Status CheckTls(const TlsFiles& files) {
  const auto context = MakeTlsContext(files);
  if (!context.ok()) return context.error();
  return {};
}

}  // namespace samebit::http
