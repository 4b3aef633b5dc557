# Writes a text file as a C++ string literal, for a program that carries it along; the file is touched only where it
# changed. Called with -DINPUT=... -DOUTPUT=...
file(READ ${INPUT} text)
file(WRITE ${OUTPUT}.new "R\"embedded(${text})embedded\"")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUTPUT}.new ${OUTPUT})
