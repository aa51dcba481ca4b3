/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C and SIGTERM before a command catches them, and after it has stopped to: the process ends
 * as it would without a handler, but says so.
 *
 * The handlers stand before the libraries are initialised, of which the BLAS takes a tenth of a
 * second and more, since the program's own table of functions to run first has one that sets them
 * (DT_PREINIT_ARRAY). Nothing has been written by then, so nothing is left behind.
 *
 * Thread rules: main() calls it first; again is harmless.
 */
#ifndef CLI_LIB_EARLY_SIGNALS_H
#define CLI_LIB_EARLY_SIGNALS_H

/* Sets the handlers, but for signals that the process was started with ignored. */
void early_signals_say(void);

#endif
