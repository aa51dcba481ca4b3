/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/net/keys_sign.h"

#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* RFC 5280, appendix A.1: ub-common-name. A longer name stands in the subjectAltName alone. */
#define COMMON_NAME_MAX 64
/* RFC 5280, section 4.1.2.2: positive, at most 20 octets. */
#define SERIAL_BITS 127

static int complain(struct error *error, const char *what)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    error_set(error, TR_EINTERNAL, "a certificate could not be made: %s: %s", what,
              reason != NULL ? reason : "no reason given");
    ERR_clear_error();
    return TR_EINTERNAL;
}

static bool set_serial(X509 *certificate)
{
    BIGNUM *number = BN_new();
    bool set = number != NULL &&
               BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
               BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != NULL;
    BN_free(number);
    return set;
}

static bool set_times(X509 *certificate, const struct validity *validity)
{
    return ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)validity->begin_s) != NULL &&
           ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)validity->end_s) != NULL;
}

static bool set_subject(X509 *certificate, const char *name)
{
    size_t size = strlen(name);
    int taken = size < COMMON_NAME_MAX ? (int)size : COMMON_NAME_MAX;
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                      (const unsigned char *)name, taken, -1, 0) == 1;
}

static bool add(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool is_address(const char *host)
{
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    ASN1_OCTET_STRING_free(address);
    return address != NULL;
}

/* Commas part the names of a value: the caller has refused hosts with any. */
static bool add_hosts(X509 *certificate, const char *host, const char *address)
{
    char value[640];
    bool more = address != NULL && strcmp(host, address) != 0;
    int size = snprintf(value, sizeof value, "%s:%s%s%s", is_address(host) ? "IP" : "DNS", host,
                        !more                 ? ""
                        : is_address(address) ? ",IP:"
                                              : ",DNS:",
                        more ? address : "");
    return size > 0 && (size_t)size < sizeof value &&
           add(certificate, NULL, NID_subject_alt_name, value);
}

static int begin(const char *name, const struct validity *validity, struct pair *pair,
                 struct error *error)
{
    *pair = (struct pair){ .certificate = X509_new(), .key = EVP_EC_gen("P-256") };
    X509 *certificate = pair->certificate;
    if (certificate == NULL || pair->key == NULL || X509_set_version(certificate, 2) != 1 ||
        !set_serial(certificate) || !set_times(certificate, validity) ||
        !set_subject(certificate, name) || X509_set_pubkey(certificate, pair->key) != 1)
        return complain(error, name);
    return 0;
}

int pair_make_authority(const struct validity *validity, struct pair *pair, struct error *error)
{
    int rc = begin("Troupe cluster authority", validity, pair, error);
    X509 *made = pair->certificate;
    if (rc == 0 && (X509_set_issuer_name(made, X509_get_subject_name(made)) != 1 ||
                    !add(made, made, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
                    !add(made, made, NID_key_usage, "critical,keyCertSign,cRLSign") ||
                    !add(made, made, NID_subject_key_identifier, "hash") ||
                    X509_sign(made, pair->key, EVP_sha256()) == 0))
        rc = complain(error, "the authority");
    if (rc < 0)
        pair_free(pair);
    return rc;
}

int pair_make_host(const struct pair *authority, const char *host, const char *address,
                   const struct validity *validity, struct pair *pair, struct error *error)
{
    int rc = begin(host, validity, pair, error);
    X509 *made = pair->certificate, *issuer = authority->certificate;
    if (rc == 0 &&
        (X509_set_issuer_name(made, X509_get_subject_name(issuer)) != 1 ||
         !add(made, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
         !add(made, issuer, NID_key_usage, "critical,digitalSignature") ||
         !add(made, issuer, NID_ext_key_usage, "serverAuth,clientAuth") ||
         !add(made, issuer, NID_subject_key_identifier, "hash") ||
         !add(made, issuer, NID_authority_key_identifier, "keyid:always") ||
         !add_hosts(made, host, address) || X509_sign(made, authority->key, EVP_sha256()) == 0))
        rc = complain(error, host);
    if (rc < 0)
        pair_free(pair);
    return rc;
}

void pair_free(struct pair *pair)
{
    X509_free(pair->certificate);
    EVP_PKEY_free(pair->key);
    *pair = (struct pair){ 0 };
}
