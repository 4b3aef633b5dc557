# cmake -DNM=... -DOBJECTS=a.o,b.o -P check_symbols.cmake
#
# Two promises about the object files of kernels. No libm, clock, environment or randomness: their results or their
# presence would differ between machines. And the units of single instruction sets define no symbol that the linker may
# merge with another unit's (nm: W, V, u): else baseline code could end up running an AVX-512 copy of it.
set(forbidden "[ ](expf?|exp2f?|logf?|log2f?|powf?|sinf?|cosf?|tanhf?|sqrtf?|fmaf?|roundf?|rintf?|nearbyintf?|getenv|secure_getenv|time|clock|clock_gettime|gettimeofday|rand|random|srand|getrandom)(@|\n|$)")
string(REPLACE "," ";" objects "${OBJECTS}")
set(units 0)
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} ${object} OUTPUT_VARIABLE symbols RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "nm cannot read ${object}")
  endif()
  if(symbols MATCHES "U${forbidden}")
    message(FATAL_ERROR "${object} refers to${CMAKE_MATCH_0}")
  endif()
  if(object MATCHES "/kernels_[a-z0-9]+\\.cc")
    math(EXPR units "${units} + 1")
    if(symbols MATCHES "[0-9a-f]+ [WVu] [^\n]+")
      message(FATAL_ERROR "${object} defines a symbol that the linker may merge: ${CMAKE_MATCH_0}")
    endif()
  endif()
endforeach()
if(units LESS 2)
  message(FATAL_ERROR "no unit of an instruction set was checked: ${OBJECTS}")
endif()
