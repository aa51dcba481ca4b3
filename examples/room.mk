# The examples of libtroupe(3), built on the public headers and the library alone.
check_PROGRAMS += examples/train_loop
examples_train_loop_SOURCES = examples/train_loop.c
examples_train_loop_LDADD = libtroupe.la -lm
