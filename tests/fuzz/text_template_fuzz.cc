// A chat template from a stranger: any bytes. Finds crashes and values outside the promised error codes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using samebit::ErrorCode;
  auto made = samebit::text::MakeChatTemplate({reinterpret_cast<const char*>(data), size});
  if (!made.ok()) {
    CHECK(made.error().code != ErrorCode::kInternal);
    return 0;
  }
  auto text = (*made)->Render({{"system", "Be brief."}, {"user", "Hi"}, {"assistant", "Yes"}}, {});
  CHECK(text.ok() || text.error().code != ErrorCode::kInternal);
  return 0;
}
