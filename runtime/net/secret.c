/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/secret.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks which others may read or change it; asks the open file, so that no other can take its
 * place. */
static int check_facts(const char *path, int fd, size_t *size, struct error *error)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0)
        return error_set_errno(error, errno, "%s", path);
    if (!S_ISREG(facts.st_mode))
        return error_set(error, TR_EINVAL, "%s: is not a plain file", path);
    if ((facts.st_mode & 077) != 0)
        return error_set(error, TR_EPERM,
                         "%s: holds a secret, but others than its owner may use it (mode %04o); "
                         "run: chmod 600 %s",
                         path, (unsigned)facts.st_mode & 07777, path);
    if (facts.st_size > (off_t)SECRET_FILE_BYTES_MAX)
        return error_set(error, TR_ETOOBIG, "%s: larger than %zu bytes: not a key", path,
                         SECRET_FILE_BYTES_MAX);
    *size = (size_t)facts.st_size;
    return 0;
}

static int read_bytes(const char *path, int fd, struct secret *secret, struct error *error)
{
    size_t got = 0;
    while (got < secret->size) {
        ssize_t now = read(fd, secret->bytes + got, secret->size - got);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0)
            return error_set_errno(error, errno, "%s", path);
        if (now == 0)
            break;
        got += (size_t)now;
    }
    secret->size = got;
    return 0;
}

int secret_read(const char *path, struct secret *secret, struct error *error)
{
    *secret = (struct secret){ 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set_errno(error, errno, "%s", path);
    int rc = check_facts(path, fd, &secret->size, error);
    if (rc == 0) {
        /* The size is known, and bounded, before memory is taken by it. */
        secret->bytes = calloc(1, secret->size + 1);
        rc = secret->bytes != NULL ? read_bytes(path, fd, secret, error)
                                   : error_set(error, TR_ENOMEM, "%s: no memory", path);
    }
    close(fd);
    if (rc < 0)
        secret_wipe(secret);
    return rc;
}

void secret_wipe(struct secret *secret)
{
    if (secret->bytes != NULL)
        OPENSSL_cleanse(secret->bytes, secret->size);
    free(secret->bytes);
    *secret = (struct secret){ 0 };
}

static void remove_blanks(struct secret *text)
{
    size_t kept = 0;
    for (size_t i = 0; i < text->size; i++)
        if (!isspace(text->bytes[i]))
            text->bytes[kept++] = text->bytes[i];
    OPENSSL_cleanse(text->bytes + kept, text->size - kept);
    text->size = kept;
}

static int hex_digit(unsigned char byte)
{
    return isdigit(byte) ? byte - '0' : isxdigit(byte) ? tolower(byte) - 'a' + 10 : -1;
}

/* In place; false: it is not hexadecimal. */
static bool decode_hex(struct secret *text)
{
    if (text->size % 2 != 0)
        return false;
    for (size_t i = 0; i < text->size; i++)
        if (!isxdigit(text->bytes[i]))
            return false;
    size_t size = text->size / 2;
    for (size_t i = 0; i < size; i++)
        text->bytes[i] = (unsigned char)(hex_digit(text->bytes[2 * i]) << 4 |
                                         hex_digit(text->bytes[2 * i + 1]));
    OPENSSL_cleanse(text->bytes + size, text->size - size);
    text->size = size;
    return true;
}

static bool decode_base64(struct secret *text)
{
    size_t padding = 0;
    while (padding < 2 && padding < text->size && text->bytes[text->size - 1 - padding] == '=')
        padding++;
    unsigned char *decoded = malloc(text->size + 1);
    int size = decoded == NULL || text->size % 4 != 0
                   ? -1
                   : EVP_DecodeBlock(decoded, text->bytes, (int)text->size);
    bool valid = size >= (int)padding;
    if (valid) {
        OPENSSL_cleanse(text->bytes, text->size);
        text->size = (size_t)size - padding;
        memcpy(text->bytes, decoded, text->size);
        OPENSSL_cleanse(decoded, (size_t)size);
    }
    free(decoded);
    return valid;
}

int secret_decode_key(const char *path, struct secret *key, struct error *error)
{
    int rc = 0;
    remove_blanks(key);
    /* Hexadecimal is tried first: its digits are letters of base64 too, which would make another
     * key of them. */
    bool valid = key->size <= 2 * SECRET_KEY_BYTES_MAX && (decode_hex(key) || decode_base64(key));
    if (!valid)
        rc = error_set(error, TR_EFORMAT,
                       "%s: is not a key in hexadecimal or base64; make one with: (umask 077; "
                       "openssl rand -hex 32 >%s)",
                       path, path);
    else if (key->size < SECRET_KEY_BYTES_MIN)
        rc = error_set(error, TR_EFORMAT,
                       "%s: a key of %zu bytes, of which at least %u are needed; make one with: "
                       "(umask 077; openssl rand -hex 32 >%s)",
                       path, key->size, SECRET_KEY_BYTES_MIN, path);
    if (rc < 0)
        secret_wipe(key);
    return rc;
}

int secret_read_key(const char *path, struct secret *key, struct error *error)
{
    int rc = secret_read(path, key, error);
    return rc < 0 ? rc : secret_decode_key(path, key, error);
}
