/* The whole public API of Troupe; see libtroupe(3). */
#ifndef TROUPE_TROUPE_H
#define TROUPE_TROUPE_H

#include <troupe/error.h>
#include <troupe/types.h>

#endif
