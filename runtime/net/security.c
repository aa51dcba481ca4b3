/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/security_impl.h"

#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/net/pem.h"
#include "runtime/net/secret.h"

/* AES with 128 bits first: the fastest where the CPU helps. Both use SHA-256, as the key does. */
#define SUITES "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
/* Elliptic curves that need no further round trip with any OpenSSL. */
#define GROUPS "X25519:P-256"
/* An authority, one below it, and the certificate. */
#define CHAIN_DEPTH_MAX 2
/* A part of the 16 KiB that a handshake may have. */
#define CHAIN_BYTES_MAX 12288

/* OpenSSL refuses sessions of another owner. */
static const unsigned char OWNER[] = { 't', 'r', 'o', 'u', 'p', 'e' };

static int security_complain(struct error *error, const char *what)
{
    char reason[256] = "no reason given";
    unsigned long code = ERR_get_error();
    if (code != 0)
        ERR_error_string_n(code, reason, sizeof reason);
    ERR_clear_error();
    return error_set(error, TR_EINTERNAL, "TLS: %s: %s", what, reason);
}

/* RFC 5869. The key of the file is not used itself, so that other uses of it stay apart. */
static int derive_psk(struct security *security, const struct secret *key, struct error *error)
{
    static char salt[] = "troupe", info[] = "tls 1.3 psk 1", digest[] = "SHA256";
    OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, key->bytes, key->size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt, sizeof salt - 1),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info - 1),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
    EVP_KDF_CTX *context = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
    int rc = 0;
    if (context == NULL ||
        EVP_KDF_derive(context, security->psk, sizeof security->psk, params) != 1)
        rc = security_complain(error, "the shared key");
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return rc;
}

/* RFC 8446, section 4.2.11: an external key is offered as a session of that secret. */
static SSL_SESSION *shared_session(SSL *ssl)
{
    static const unsigned char suite[] = { 0x13, 0x01 }; /* TLS_AES_128_GCM_SHA256 */
    const struct security *security = SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
    const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, suite);
    SSL_SESSION *session = SSL_SESSION_new();
    if (session != NULL && cipher != NULL &&
        SSL_SESSION_set1_master_key(session, security->psk, sizeof security->psk) == 1 &&
        SSL_SESSION_set_cipher(session, cipher) == 1 &&
        SSL_SESSION_set1_id_context(session, OWNER, sizeof OWNER) == 1 &&
        SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
        return session;
    SSL_SESSION_free(session);
    return NULL;
}

static int use_psk(SSL *ssl, const EVP_MD *md, const unsigned char **identity, size_t *size,
                   SSL_SESSION **session)
{
    (void)md; /* all our suites have SHA-256 */
    *identity = (const unsigned char *)SECURITY_PSK_IDENTITY;
    *size = strlen(SECURITY_PSK_IDENTITY);
    *session = shared_session(ssl);
    return *session != NULL;
}

static int find_psk(SSL *ssl, const unsigned char *identity, size_t size, SSL_SESSION **session)
{
    *session = NULL;
    if (size != strlen(SECURITY_PSK_IDENTITY) || memcmp(identity, SECURITY_PSK_IDENTITY, size) != 0)
        return 1;
    *session = shared_session(ssl);
    return *session != NULL;
}

static int create_context(struct security *security, struct error *error)
{
    char groups[] = GROUPS; /* not const: OpenSSL's macro takes a char * */
    SSL_CTX *context = SSL_CTX_new(TLS_method());
    if (context == NULL)
        return security_complain(error, "no context");
    security->context = context;
    SSL_CTX_set_app_data(context, security);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_clear_options(context, SSL_OP_ALLOW_NO_DHE_KEX);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    /* OpenSSL takes a shared key for a session, which must belong to somebody. */
    SSL_CTX_set_session_id_context(context, OWNER, sizeof OWNER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify_depth(context, CHAIN_DEPTH_MAX);
    SSL_CTX_set_max_cert_list(context, CHAIN_BYTES_MAX);
    if (SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
        SSL_CTX_set_ciphersuites(context, SUITES) != 1 ||
        SSL_CTX_set1_groups_list(context, groups) != 1 ||
        SSL_CTX_set_num_tickets(context, 0) != 1 || SSL_CTX_set_max_early_data(context, 0) != 1)
        return security_complain(error, "a setting");
    return 0;
}

/* Is the certificate in force, and signed by the authority? Told at the start, and not by
 * every other process later. */
static int check_own(SSL_CTX *context, const char *path, const char *ca, struct error *error)
{
    STACK_OF(X509) *chain = NULL;
    SSL_CTX_get0_chain_certs(context, &chain);
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    int rc = 0;
    if (check == NULL || X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(context),
                                             SSL_CTX_get0_certificate(context), chain) != 1) {
        rc = security_complain(error, "checking the certificate");
    } else if (X509_verify_cert(check) != 1) {
        int code = X509_STORE_CTX_get_error(check);
        if (code == X509_V_ERR_CERT_HAS_EXPIRED || code == X509_V_ERR_CERT_NOT_YET_VALID)
            rc = error_set(error, TR_EMISMATCH,
                           "%s: %s; see the clock, or make another with: "
                           "troupe cluster keys --replace",
                           path, X509_verify_cert_error_string(code));
        else
            rc = error_set(error, TR_EMISMATCH, "%s: not signed by the authority of %s (%s)", path,
                           ca, X509_verify_cert_error_string(code));
    }
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return rc;
}

static int load_certificate(SSL_CTX *context, const char *path, struct error *error)
{
    STACK_OF(X509) *chain = NULL;
    int rc = pem_read_certificates(path, &chain, error);
    if (rc < 0)
        return rc;
    X509 *first = sk_X509_shift(chain);
    if (SSL_CTX_use_certificate(context, first) != 1 || SSL_CTX_set1_chain(context, chain) != 1)
        rc = security_complain(error, path);
    X509_free(first);
    sk_X509_pop_free(chain, X509_free);
    return rc;
}

static int load_authority(SSL_CTX *context, const char *path, struct error *error)
{
    STACK_OF(X509) *authorities = NULL;
    int rc = pem_read_certificates(path, &authorities, error);
    for (int i = 0; rc == 0 && i < sk_X509_num(authorities); i++)
        if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), sk_X509_value(authorities, i)) !=
            1)
            rc = security_complain(error, path);
    sk_X509_pop_free(authorities, X509_free);
    return rc;
}

static int load_key(SSL_CTX *context, const struct security_options *options, struct error *error)
{
    EVP_PKEY *key = NULL;
    int rc = pem_read_key(options->key, &key, error);
    if (rc < 0)
        return rc;
    /* The key is compared first, so that the text names both files. */
    if (X509_check_private_key(SSL_CTX_get0_certificate(context), key) != 1)
        rc = error_set(error, TR_EMISMATCH, "%s: not the key of the certificate in %s",
                       options->key, options->certificate);
    else if (SSL_CTX_use_PrivateKey(context, key) != 1)
        rc = security_complain(error, options->key);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return rc;
}

static int load_certificates(struct security *security, const struct security_options *options,
                             struct error *error)
{
    SSL_CTX *context = security->context;
    /* The key and the check come behind the certificate, which both look at; the check also needs
     * the authority. */
    int rc = load_authority(context, options->ca, error);
    if (rc == 0)
        rc = load_certificate(context, options->certificate, error);
    if (rc == 0)
        rc = load_key(context, options, error);
    if (rc == 0)
        rc = check_own(context, options->certificate, options->ca, error);
    return rc;
}

static int load_shared_key(struct security *security, const char *path, struct error *error)
{
    struct secret key;
    int rc = secret_read_key(path, &key, error);
    if (rc < 0)
        return rc;
    /* The file's key is wiped as soon as ours is derived of it. */
    rc = derive_psk(security, &key, error);
    secret_wipe(&key);
    SSL_CTX_set_psk_use_session_callback(security->context, use_psk);
    SSL_CTX_set_psk_find_session_callback(security->context, find_psk);
    security->has_shared_key = true;
    return rc;
}

static int check_options(const struct security_options *options, struct error *error)
{
    int files = (options->ca != NULL) + (options->certificate != NULL) + (options->key != NULL);
    if (options->shared_key != NULL && files > 0)
        return error_set(error, TR_EINVAL, "a shared key and certificates: give one of the two");
    if (options->shared_key == NULL && files == 0)
        return error_set(error, TR_EINVAL, "neither certificates nor a shared key");
    if (options->shared_key == NULL && files < 3)
        return error_set(error, TR_EINVAL, "certificates need three files, but the %s is missing",
                         options->ca == NULL            ? "authority's certificate"
                         : options->certificate == NULL ? "certificate"
                                                        : "key");
    return 0;
}

int security_create(const struct security_options *options, struct security **security,
                    struct error *error)
{
    *security = NULL;
    int rc = check_options(options, error);
    if (rc < 0)
        return rc;
    ERR_clear_error();
    struct security *made = calloc(1, sizeof *made);
    if (made == NULL)
        return error_set(error, TR_ENOMEM, "TLS: no memory");
    rc = create_context(made, error);
    if (rc == 0)
        rc = options->shared_key != NULL ? load_shared_key(made, options->shared_key, error)
                                         : load_certificates(made, options, error);
    if (rc < 0) {
        security_destroy(made);
        return rc;
    }
    *security = made;
    return 0;
}

int security_renew_key(struct security *security, const char *shared_key, struct error *error)
{
    if (!security->has_shared_key)
        return error_set(error, TR_EINVAL, "%s: certificates are used, and no shared key",
                         shared_key);
    return load_shared_key(security, shared_key, error);
}

void security_destroy(struct security *security)
{
    if (security == NULL)
        return;
    SSL_CTX_free(security->context);
    OPENSSL_cleanse(security->psk, sizeof security->psk);
    free(security);
}
