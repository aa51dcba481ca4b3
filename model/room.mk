noinst_LTLIBRARIES += libtr_model.la
libtr_model_la_SOURCES = \
    model/features.c model/features.h \
    model/gcn.c model/gcn.h \
    model/kernels.c model/kernels.h \
    model/labels.c model/labels.h \
    model/layer.c model/layer.h \
    model/loss.c model/loss.h \
    model/matmul.c model/matmul.h \
    model/model.c model/model.h \
    model/model_config.c model/model_config.h \
    model/optimiser.c model/optimiser.h \
    model/params.c model/params.h \
    model/propagate.c model/propagate.h \
    model/sage.c model/sage.h \
    model/tensor.c model/tensor.h
