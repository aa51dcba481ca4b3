/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of files, made safe to show: they may hold anything, and those who show a text may count on
 * printable UTF-8. Thread rules: pure.
 */
#ifndef RUNTIME_BASE_PRINTABLE_H
#define RUNTIME_BASE_PRINTABLE_H

/* Replaces each byte that is no UTF-8, or of a character that steers a terminal or turns the
 * direction of writing, by '?'. */
void make_printable(char *text);

#endif
