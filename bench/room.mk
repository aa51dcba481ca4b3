noinst_LTLIBRARIES += libtr_bench.la
libtr_bench_la_SOURCES = \
    bench/figure.c bench/figure.h \
    bench/step.c bench/step.h
