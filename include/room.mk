# SPDX-License-Identifier: Apache-2.0
troupeincludedir = $(includedir)/troupe
troupeinclude_HEADERS = \
    include/troupe/batch.h \
    include/troupe/error.h \
    include/troupe/graph.h \
    include/troupe/group.h \
    include/troupe/loader.h \
    include/troupe/session.h \
    include/troupe/task.h \
    include/troupe/troupe.h \
    include/troupe/types.h
