/* SPDX-License-Identifier: Apache-2.0 */
/* The errors of TLS, with what to do about them. */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#include "runtime/net/tls.h"

static int explain_certificate(const struct tls_failure *failure, struct error *error)
{
    const char *who = failure->identity;
    switch (failure->verify) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return error_set(error, TR_EPERM,
                         "the peer's certificate (%s) has expired; make another with: "
                         "troupe cluster keys --replace",
                         who);
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return error_set(error, TR_EPERM,
                         "the peer's certificate (%s) is not yet valid; compare the clocks "
                         "of both hosts",
                         who);
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return error_set(error, TR_EPERM, "the peer's certificate (%s) is not that of host %s", who,
                         failure->host != NULL ? failure->host : "");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        if (failure->has_shared_key)
            return error_set(error, TR_EPERM,
                             "the peer shows a certificate (%s), but this one has a shared "
                             "key: give both the same",
                             who);
        return error_set(
            error, TR_EPERM,
            "TLS handshake failed: the peer's certificate (%s) is issued by another CA "
            "than ours; give all hosts the same \"ca\"",
            who);
    default:
        return error_set(error, TR_EPERM, "the peer's certificate (%s) is refused: %s", who,
                         X509_verify_cert_error_string(failure->verify));
    }
}

/* RFC 8446, section 6.2; NULL: not an alert that the peer sent. */
static const char *alert(int reason)
{
    switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
        return "the peer does not trust our certificate (issued by another CA)";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
        return "our certificate has expired, or is not yet valid by the peer's clock";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
        return "the peer does not accept our certificate";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
        return "the peer asks for a certificate, and we have a shared key or nothing";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return "the peer does not speak TLS 1.3";
    case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
        return "the peer found nothing in common with us: one may have a shared key and the "
               "other certificates";
    case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
        return "the peer's shared key is another than ours";
    default:
        return reason >= SSL_AD_REASON_OFFSET ? "" : NULL;
    }
}

static int explain_reason(const struct tls_failure *failure, unsigned long code,
                          struct error *error)
{
    int reason = ERR_GET_REASON(code);
    const char *text = ERR_reason_error_string(code);
    const char *told = ERR_GET_LIB(code) == ERR_LIB_SSL ? alert(reason) : NULL;
    if (told != NULL)
        return error_set(error, TR_EPERM, "TLS handshake failed: %s",
                         told[0] != '\0' ? told
                         : text != NULL  ? text
                                         : "no reason given");
    switch (ERR_GET_LIB(code) == ERR_LIB_SSL ? reason : 0) {
    case SSL_R_BINDER_DOES_NOT_VERIFY:
        return error_set(error, TR_EPERM,
                         "TLS handshake failed: the peer's shared key is another than ours");
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_CERTIFICATE_SET:
        if (failure->has_shared_key)
            return error_set(error, TR_EPERM,
                             "TLS handshake failed: the peer does not have our shared key");
        break;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
        return error_set(error, TR_EPERM, "TLS handshake failed: the peer showed no certificate");
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
        return error_set(error, TR_EPERM, "TLS handshake failed: the peer does not speak TLS 1.3");
    case SSL_R_EXCESSIVE_MESSAGE_SIZE:
        return error_set(error, TR_ETOOBIG, "a part of the handshake is larger than it may be");
    }
    return error_set(error, TR_EFORMAT, "the peer broke the rules of TLS: %s",
                     text != NULL ? text : "no reason given");
}

int tls_explain(const struct tls_failure *failure, struct error *error)
{
    unsigned long code = ERR_peek_error();
    int rc;
    /* The causes that we know ourselves come first: OpenSSL's own word for them (a bad record, an
     * unexpected end) names only what followed from them. */
    if (failure->status == TR_ETOOBIG)
        rc = error_set(error, TR_ETOOBIG,
                       "the peer sent %u bytes and had not ended its "
                       "handshake",
                       TRANSPORT_HANDSHAKE_BYTES_MAX);
    else if (!failure->speaks_tls)
        rc = error_set(error, TR_EFORMAT, "the peer does not speak TLS");
    else if (failure->verify != X509_V_OK)
        rc = explain_certificate(failure, error);
    else if (failure->status == TR_EEND && failure->silent)
        rc = error_set(error, TR_EEND,
                       "the peer ended the connection before it said "
                       "anything; it may not speak TLS");
    else if (failure->status == TR_EEND)
        rc = error_set(error, TR_EEND, "the peer ended the connection");
    else if (failure->status != 0 || code == 0)
        rc = error_set(error, TR_EPEERDOWN, "the connection broke");
    else
        rc = explain_reason(failure, code, error);
    ERR_clear_error();
    return rc;
}
