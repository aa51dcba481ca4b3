/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/base/crc32c.h"

#include <string.h>

#if defined __x86_64__
#include <immintrin.h>
#elif defined __aarch64__
#include <sys/auxv.h>
#endif

/* The polynomial's remainder for each half byte: small enough to check by eye and to need no
 * start-up. */
static const uint32_t remainders[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_table(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ remainders[crc & 15];
        crc = crc >> 4 ^ remainders[crc & 15];
    }
    return ~crc;
}

#if defined __x86_64__

#define LANE_BYTES 1024u
#define LINE_BYTES 64u
#define AHEAD_BYTES (6u * LANE_BYTES) /* two blocks */

/* The instruction takes three cycles and one can begin in each, so three parts of a block are
 * summed side by side. A sum is moved behind n more bytes by a product with x^(8n) modulo the
 * polynomial (Gopal et al.: Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction,
 * 2011). The instruction itself multiplies by x^32 and the reflected product by x, hence
 * x^(8n - 33). */
#define SHIFT_ONE_LANE UINT64_C(0x170076fa)
#define SHIFT_TWO_LANES UINT64_C(0xa51b6135)

#define WITH_INSTRUCTIONS __attribute__((target("sse4.2,pclmul")))

typedef long long pair __attribute__((vector_size(16)));

WITH_INSTRUCTIONS static uint64_t crc_shift(uint64_t crc, uint64_t by)
{
    pair product = __builtin_ia32_pclmulqdq128((pair){ (long long)crc, 0 },
                                               (pair){ (long long)by, 0 }, 0);
    return __builtin_ia32_crc32di(0, (uint64_t)product[0]);
}

static uint64_t word_at(const unsigned char *byte)
{
    uint64_t word;
    memcpy(&word, byte, sizeof word);
    return word;
}

/* Three short runs a block are none to the hardware, which fetches ahead by itself in long ones.
 * A line that is fetched may lie behind the bytes: nothing happens then. */
static void fetch_ahead(const unsigned char *byte)
{
    for (size_t lane = 0; lane < 3; lane++)
        __builtin_prefetch(byte + AHEAD_BYTES + lane * LANE_BYTES);
}

WITH_INSTRUCTIONS static uint64_t three_lanes(uint64_t crc, const unsigned char *byte)
{
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < LANE_BYTES; i += 8) {
        if (i % LINE_BYTES == 0)
            fetch_ahead(byte + i);
        crc = __builtin_ia32_crc32di(crc, word_at(byte + i));
        second = __builtin_ia32_crc32di(second, word_at(byte + LANE_BYTES + i));
        third = __builtin_ia32_crc32di(third, word_at(byte + 2 * LANE_BYTES + i));
    }
    return crc_shift(crc, SHIFT_TWO_LANES) ^ crc_shift(second, SHIFT_ONE_LANE) ^ third;
}

WITH_INSTRUCTIONS static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    uint64_t wide = ~crc;
    for (; count >= 3 * LANE_BYTES; count -= 3 * LANE_BYTES, byte += 3 * LANE_BYTES)
        wide = three_lanes(wide, byte);
    for (; count >= 8; count -= 8, byte += 8)
        wide = __builtin_ia32_crc32di(wide, word_at(byte));
    uint32_t narrow = (uint32_t)wide;
    for (; count > 0; count--)
        narrow = __builtin_ia32_crc32qi(narrow, *byte++);
    return ~narrow;
}

static int has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

#define FOLD_BYTES 256u
#define FOLD_AHEAD_BYTES (8u * FOLD_BYTES)
#define FOLD_LEAST_BYTES 2048u /* the end of it, words one by one, costs as much as 1 KiB */

/* Sixteen bytes are a polynomial of two halves; a product with x^(8n + 32) and one with x^(8n - 32)
 * (modulo the polynomial, reflected, and shifted as above) move them behind n more bytes, where
 * they are added to what is there (Gopal et al.: Fast CRC Computation for Generic Polynomials Using
 * PCLMULQDQ Instruction, 2009). */
#define FOLD_LOW INT64_C(0xdcb17aa4)
#define FOLD_HIGH INT64_C(0xb9e02b86)

#define WITH_VECTORS __attribute__((target("sse4.2,pclmul,avx512f,vpclmulqdq")))

WITH_VECTORS static inline __m512i crc_fold(__m512i sum, __m512i by, const unsigned char *next)
{
    __m512i low = _mm512_clmulepi64_epi128(sum, by, 0x00);
    __m512i high = _mm512_clmulepi64_epi128(sum, by, 0x11);
    return _mm512_ternarylogic_epi64(low, high, _mm512_loadu_si512(next), 0x96); /* all three */
}

/* As above for what is not in the cache yet: it comes as fast as the memory gives it. */
WITH_VECTORS static inline void fetch_fold(const unsigned char *byte)
{
    for (size_t line = 0; line < FOLD_BYTES; line += LINE_BYTES)
        __builtin_prefetch(byte + FOLD_AHEAD_BYTES + line);
}

/* Sixteen polynomials side by side; in the end they are 256 bytes with the sum of all. */
WITH_VECTORS static uint32_t by_folding(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    unsigned char left[FOLD_BYTES];
    __m512i by = _mm512_broadcast_i32x4(_mm_set_epi64x(FOLD_HIGH, FOLD_LOW));
    __m512i first = _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc));
    first = _mm512_xor_si512(first, _mm512_loadu_si512(byte));
    __m512i second = _mm512_loadu_si512(byte + 64);
    __m512i third = _mm512_loadu_si512(byte + 128);
    __m512i fourth = _mm512_loadu_si512(byte + 192);
    for (byte += FOLD_BYTES, count -= FOLD_BYTES; count >= FOLD_BYTES;
         byte += FOLD_BYTES, count -= FOLD_BYTES) {
        fetch_fold(byte);
        first = crc_fold(first, by, byte);
        second = crc_fold(second, by, byte + 64);
        third = crc_fold(third, by, byte + 128);
        fourth = crc_fold(fourth, by, byte + 192);
    }
    _mm512_storeu_si512(left, first);
    _mm512_storeu_si512(left + 64, second);
    _mm512_storeu_si512(left + 128, third);
    _mm512_storeu_si512(left + 192, fourth);
    return by_instruction(by_instruction(UINT32_MAX, left, sizeof left), byte, count);
}

static int has_vectors(void)
{
    return has_instruction() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("vpclmulqdq");
}

#elif defined __aarch64__ && defined __GNUC__

#define HWCAP_OF_CRC32 (1ul << 7)

static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t count)
{
    const unsigned char *byte = bytes;
    crc = ~crc;
    for (; count >= 8; count -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    }
    for (; count > 0; count--) {
        uint32_t one = *byte++;
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(one));
    }
    return ~crc;
}

static int has_instruction(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_OF_CRC32) != 0;
}

#else

static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t count)
{
    return crc32c_table(crc, bytes, count);
}

static int has_instruction(void)
{
    return 0;
}

#endif

uint32_t crc32c_words(uint32_t crc, const void *bytes, size_t count)
{
    return has_instruction() ? by_instruction(crc, bytes, count) : crc32c_table(crc, bytes, count);
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count)
{
#if defined __x86_64__
    if (count >= FOLD_LEAST_BYTES && has_vectors())
        return by_folding(crc, bytes, count);
#endif
    return crc32c_words(crc, bytes, count);
}

/* x^0 of a reflected polynomial, and the polynomial itself without x^32. */
#define POWER_0 (UINT32_C(1) << 31)
#define POLYNOMIAL UINT32_C(0x82f63b78)

/* The product of two polynomials modulo the polynomial. */
static uint32_t crc_multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t power = POWER_0; power != 0; power >>= 1) {
        if (a & power)
            product ^= b;
        b = b & 1 ? b >> 1 ^ POLYNOMIAL : b >> 1;
    }
    return product;
}

/* Moving a sum behind n more bytes is a product with x^(8n), which squaring makes in 64 steps. */
uint32_t crc32c_join(uint32_t first, uint32_t second, uint64_t second_bytes)
{
    uint32_t by = POWER_0, square = POWER_0 >> 8;
    for (; second_bytes != 0; second_bytes >>= 1, square = crc_multiply(square, square)) {
        if (second_bytes & 1)
            by = crc_multiply(by, square);
    }
    return crc_multiply(first, by) ^ second;
}
