/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/tame.h"

void tame_line(char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            line[i] = '?';
    }
}
