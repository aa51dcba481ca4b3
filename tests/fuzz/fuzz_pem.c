/* SPDX-License-Identifier: Apache-2.0 */
/* Files of certificates and keys; the first byte chooses which. A file that is taken can be used,
 * and nobody is asked for a passphrase. */
#include <openssl/pem.h>

#include "runtime/net/pem.h"
#include "runtime/net/secret.h"
#include "tests/fuzz/fuzz.h"

enum { CHOICE_CERTIFICATES, CHOICE_KEY, CHOICE_SHARED, NUM_CHOICES };

static void use_certificates(const void *text, size_t size)
{
    STACK_OF(X509) * certificates;
    struct error error = { 0 };
    int rc = pem_parse_certificates("a.pem", text, size, &certificates, &error);
    fuzz_check(rc, &error);
    assert((rc == 0) == (certificates != NULL));
    if (rc < 0)
        return;
    assert(sk_X509_num(certificates) > 0 && sk_X509_num(certificates) <= PEM_CERTIFICATES_MAX);
    for (int i = 0; i < sk_X509_num(certificates); i++)
        assert(i2d_X509(sk_X509_value(certificates, i), NULL) > 0);
    sk_X509_pop_free(certificates, X509_free);
}

static void use_key(const void *text, size_t size)
{
    EVP_PKEY *key;
    struct error error = { 0 };
    int rc = pem_parse_key("a.key", text, size, &key, &error);
    fuzz_check(rc, &error);
    assert((rc == 0) == (key != NULL));
    EVP_PKEY_free(key);
}

/* A file that is read as a key is read the same from its hexadecimal form. */
static void use_shared(const void *text, size_t size)
{
    struct secret key = { fuzz_block(text, size), size }, again;
    struct error error = { 0 };
    int rc = secret_decode_key("a.secret", &key, &error);
    fuzz_check(rc, &error);
    if (rc < 0) {
        assert(key.bytes == NULL && key.size == 0);
        return;
    }
    assert(key.size >= SECRET_KEY_BYTES_MIN && key.size <= 2 * SECRET_KEY_BYTES_MAX);
    again = (struct secret){ malloc(2 * key.size), 2 * key.size };
    assert(again.bytes != NULL);
    for (size_t i = 0; i < key.size; i++) {
        again.bytes[2 * i] = (unsigned char)"0123456789abcdef"[key.bytes[i] >> 4];
        again.bytes[2 * i + 1] = (unsigned char)"0123456789abcdef"[key.bytes[i] & 15];
    }
    if (key.size <= SECRET_KEY_BYTES_MAX) {
        assert(secret_decode_key("b.secret", &again, &error) == 0);
        assert(again.size == key.size && memcmp(again.bytes, key.bytes, key.size) == 0);
    }
    secret_wipe(&again);
    secret_wipe(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = { data, size };
    uint8_t choice = fuzz_byte(&bytes) % NUM_CHOICES;
    void *text = fuzz_block(bytes.at, bytes.left);
    if (choice == CHOICE_CERTIFICATES)
        use_certificates(text, bytes.left);
    else if (choice == CHOICE_KEY)
        use_key(text, bytes.left);
    else
        use_shared(text, bytes.left);
    free(text);
    return 0;
}
