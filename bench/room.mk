noinst_LTLIBRARIES += libtr_bench.la
libtr_bench_la_SOURCES = \
    bench/bare.c bench/bare.h \
    bench/biggraph.c bench/biggraph.h \
    bench/figure.c bench/figure.h \
    bench/messages.c bench/messages.h \
    bench/step.c bench/step.h
