/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C: the Castagnoli polynomial, reflected (RFC 3720, appendix B.4).
 *
 * Long runs with vectors of carry-less products, others with the CPU's own instruction for it, each
 * where the CPU has them, else by a table; all give the same numbers.
 * Thread rules: pure.
 */
#ifndef RUNTIME_BASE_CRC32C_H
#define RUNTIME_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues a checksum over more bytes; begin with 0. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t count);

/* The checksum of bytes whose first part has the checksum first and whose other second_bytes have
 * second: parts that were summed apart, in any order, are put together. */
uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes);

/* The same without vectors, and by the table alone: what the tests compare with. */
uint32_t crc32c_words(uint32_t crc, const void *bytes, size_t count);
uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t count);

#endif
