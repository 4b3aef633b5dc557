#include "verify/markup_text.h"

#include <gtest/gtest.h>

namespace samebit::verify {
namespace {

TEST(MarkupText, leaves_nothing_that_is_markup_or_forbidden) {
  EXPECT_EQ(MarkupText("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(MarkupText(std::string("\x00\x1b\n", 3)), "\xef\xbf\xbd\xef\xbf\xbd\n");
  EXPECT_EQ(MarkupText("\xef\xbf\xbf"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace samebit::verify
