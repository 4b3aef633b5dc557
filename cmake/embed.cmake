# Writes a C++ file that holds files as bytes: cmake -DOUTPUT=page_bytes.cc "-DFILES=kHtml=page.html;kPolicy=policy.txt"
# -DNAMESPACE=samebit::server -P embed.cmake. Each becomes `extern const std::string_view NAME`.
set(text "// Made by cmake/embed.cmake.\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
foreach(pair IN LISTS FILES)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${pair}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR size "${digits} / 2")
  if(size EQUAL 0)
    message(FATAL_ERROR "${CMAKE_MATCH_2} is empty")
  endif()
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND text "static const unsigned char ${name}Bytes[] = {${bytes}};\n"
    "extern const std::string_view ${name};\n"
    "const std::string_view ${name}(reinterpret_cast<const char*>(${name}Bytes), ${size});\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}}  // namespace ${NAMESPACE}\n")
