/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include "runtime/base/files.h"
#include "runtime/net/secret.h"

/* Nobody is there to type one; OpenSSL would ask on the terminal. */
static int refuse_passphrase(char *text, int size, int writing, void *arg)
{
    (void)text, (void)size, (void)writing;
    *(bool *)arg = true;
    return -1;
}

static int read_all(const char *path, BIO *bio, STACK_OF(X509) * certificates, struct error *error)
{
    bool asked = false;
    X509 *next;
    while ((next = PEM_read_bio_X509(bio, NULL, refuse_passphrase, &asked)) != NULL) {
        if (sk_X509_num(certificates) < PEM_CERTIFICATES_MAX &&
            sk_X509_push(certificates, next) > 0)
            continue;
        X509_free(next);
        return error_set(error, TR_ETOOBIG, "%s: more than %d certificates", path,
                         PEM_CERTIFICATES_MAX);
    }
    /* After the last one OpenSSL misses the line that begins another; all else is damage. */
    bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!ended || sk_X509_num(certificates) == 0)
        return error_set(error, TR_EFORMAT,
                         "%s: holds %s certificate in PEM (-----BEGIN CERTIFICATE-----)", path,
                         ended ? "no" : "a damaged");
    return 0;
}

int pem_parse_certificates(const char *path, const void *text, size_t size,
                           STACK_OF(X509) * *certificates, struct error *error)
{
    *certificates = NULL;
    ERR_clear_error();
    STACK_OF(X509) *made = sk_X509_new_null();
    BIO *bio = BIO_new_mem_buf(text, (int)size);
    int rc = made == NULL || bio == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", path)
                                         : read_all(path, bio, made, error);
    BIO_free(bio);
    if (rc < 0)
        sk_X509_pop_free(made, X509_free);
    else
        *certificates = made;
    return rc;
}

int pem_parse_key(const char *path, const void *text, size_t size, EVP_PKEY **key,
                  struct error *error)
{
    bool asked = false;
    int rc = 0;
    *key = NULL;
    ERR_clear_error();
    BIO *bio = BIO_new_mem_buf(text, (int)size);
    if (bio == NULL)
        rc = error_set(error, TR_ENOMEM, "%s: no memory", path);
    else if ((*key = PEM_read_bio_PrivateKey(bio, NULL, refuse_passphrase, &asked)) == NULL)
        rc = error_set(error, TR_EFORMAT,
                       asked
                           ? "%s: the key is encrypted with a passphrase, which cannot be entered "
                             "here; store it without one, in a file of mode 0600"
                           : "%s: holds no private key in PEM (-----BEGIN PRIVATE KEY-----)",
                       path);
    BIO_free(bio);
    ERR_clear_error();
    return rc;
}

int pem_read_certificates(const char *path, STACK_OF(X509) * *certificates, struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    *certificates = NULL;
    int rc = files_read_all(files_posix, path, SECRET_FILE_BYTES_MAX, &text, &size, error);
    if (rc == 0)
        rc = pem_parse_certificates(path, text, size, certificates, error);
    free(text);
    return rc;
}

int pem_read_key(const char *path, EVP_PKEY **key, struct error *error)
{
    struct secret text;
    *key = NULL;
    int rc = secret_read(path, &text, error);
    if (rc == 0)
        rc = pem_parse_key(path, text.bytes, text.size, key, error);
    secret_wipe(&text);
    return rc;
}
