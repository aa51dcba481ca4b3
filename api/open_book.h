/* SPDX-License-Identifier: Apache-2.0 */
/* What stands behind a book's handle, for the other files of its calls. Thread rules: any. */
#ifndef API_OPEN_BOOK_H
#define API_OPEN_BOOK_H

#include <troupe/book.h>

struct store;

/* The book's; it is only read. */
struct store *open_book_store(const struct tr_book *book);

#endif
