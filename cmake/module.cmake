# samebit_module(name [SOURCES ...] [DEPS module ...] [LIBS target ...] [TESTS file ...] [NUMERIC])
#
# One module is one folder under src/: a static library samebit_<name>, the modules it may
# include (checked against ARCHITECTURE.md by tests/house), and its tests. A *_test.cc in the
# folder that is not listed fails the configure step, so that no test can be forgotten.
#
# A numeric-only (cross) build has no GoogleTest for its target: its tests are plain programs (tests/golden), and
# samebit_test makes nothing there.
if(NOT SAMEBIT_NUMERIC_ONLY)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

function(samebit_module name)
  cmake_parse_arguments(M "NUMERIC" "" "SOURCES;DEPS;LIBS;TESTS" ${ARGN})
  set(target samebit_${name})
  add_library(${target} STATIC ${M_SOURCES})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM M_DEPS PREPEND samebit_)
  target_link_libraries(${target} PUBLIC ${M_DEPS} ${M_LIBS})
  if(M_NUMERIC)
    target_link_libraries(${target} PRIVATE samebit_numeric_flags)
  endif()
  if(SAMEBIT_NUMERIC_ONLY)
    return()
  endif()
  file(GLOB_RECURSE found RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *_test.cc)
  foreach(test IN LISTS found)
    if(NOT test IN_LIST M_TESTS)
      message(FATAL_ERROR "src/${name}/${test} is not listed under TESTS of samebit_module(${name})")
    endif()
  endforeach()
  if(M_TESTS)
    samebit_test(${name}_test SOURCES ${M_TESTS} DEPS ${name})
  endif()
endfunction()

# samebit_test(name SOURCES ... DEPS module ... [LIBS ...]): one GoogleTest program.
function(samebit_test name)
  if(SAMEBIT_NUMERIC_ONLY)
    return()
  endif()
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  list(TRANSFORM T_DEPS PREPEND samebit_)
  target_link_libraries(${name} PRIVATE ${T_DEPS} ${T_LIBS} samebit_numeric_flags GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    SAMEBIT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" SAMEBIT_BINARY_DIR="${CMAKE_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 900)
endfunction()
