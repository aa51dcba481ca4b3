#include "runtime/crc32c.h"

#include <string.h>

#if defined __aarch64__
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

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const void *bytes,
                                                                 size_t count)
{
    const unsigned char *byte = bytes;
    uint64_t wide = ~crc;
    for (; count >= 8; count -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    uint32_t narrow = (uint32_t)wide;
    for (; count > 0; count--)
        narrow = __builtin_ia32_crc32qi(narrow, *byte++);
    return ~narrow;
}

static int has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
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

uint32_t crc32c(uint32_t crc, const void *bytes, size_t count)
{
    return has_instruction() ? by_instruction(crc, bytes, count) : crc32c_table(crc, bytes, count);
}
