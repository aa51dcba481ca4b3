noinst_LTLIBRARIES += libtr_model.la
libtr_model_la_SOURCES = \
    model/exact.c model/exact.h model/exact_memory.h \
    model/exact_features.c model/exact_features.h \
    model/exact_layer.c model/exact_layer.h model/exact_rows.h \
    model/exact_scores.c \
    model/features.c model/features.h \
    model/gcn.c model/gcn.h \
    model/kernels.c model/kernels.h \
    model/labels.c model/labels.h \
    model/layer.c model/layer.h \
    model/loss.c model/loss.h \
    model/matmul.c model/matmul.h \
    model/metrics.c model/metrics.h \
    model/model.c model/model.h \
    model/model_config.c model/model_config.h \
    model/model_file.c model/model_file.h \
    model/node_map.c model/node_map.h \
    model/optimiser.c model/optimiser.h \
    model/params.c model/params.h \
    model/propagate.c model/propagate.h \
    model/ranking.c model/ranking.h \
    model/safetensors.c model/safetensors.h model/safetensors_dtype.h \
    model/safetensors_read.c model/safetensors_write.c \
    model/sage.c model/sage.h \
    model/state.c model/state.h \
    model/tensor.c model/tensor.h \
    model/trainer.c model/trainer.h \
    model/training_loop.c model/training_loop.h
