/*
 * CRC-32C: the Castagnoli polynomial, reflected (RFC 3720, appendix B.4).
 *
 * With the CPU's own instruction where it has one, else by a table; both give the same numbers.
 * Thread rules: pure.
 */
#ifndef RUNTIME_CRC32C_H
#define RUNTIME_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum over more bytes; begin with 0. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

/* The same by the table alone: what the tests compare with. */
uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif
