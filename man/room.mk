# SPDX-License-Identifier: Apache-2.0
dist_man1_MANS += \
    man/troupe-bench.1 \
    man/troupe-cluster.1 \
    man/troupe-completion.1 \
    man/troupe-feature.1 \
    man/troupe-generate.1 \
    man/troupe-import.1 \
    man/troupe-infer.1 \
    man/troupe-inspect.1 \
    man/troupe-attach.1 \
    man/troupe-launch.1 \
    man/troupe-partition.1 \
    man/troupe-report.1 \
    man/troupe-sample.1 \
    man/troupe-serve.1 \
    man/troupe-simulate.1 \
    man/troupe-split.1 \
    man/troupe-status.1 \
    man/troupe-top.1 \
    man/troupe-train.1 \
    man/troupe-verify.1 \
    man/troupe.1
dist_man3_MANS += man/libtroupe.3 man/libtroupe-model.3
dist_man5_MANS += man/troupe-checkpoint.5 man/troupe-cluster.5 man/troupe-events.5 man/troupe-partition.5 man/troupe-raw.5
dist_man7_MANS += man/troupe.7

# The structs as the headers have them: the page is made of these, and says nothing that they do not.
man3_MANS = man/libtroupe-structs.3
CLEANFILES += man/libtroupe-structs.3
man/libtroupe-structs.3: scripts/structs $(troupeinclude_HEADERS)
	$(AM_V_GEN)$(MKDIR_P) man && sh $(srcdir)/scripts/structs $(srcdir) >$@.tmp && mv $@.tmp $@
