troupeincludedir = $(includedir)/troupe
troupeinclude_HEADERS = \
    include/troupe/error.h \
    include/troupe/troupe.h \
    include/troupe/types.h
