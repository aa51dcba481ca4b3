/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS 1.3 over a stream.
 *
 * Invariants:
 *   - Until the handshake is done nothing of the user's is written or read, and the pipe reads no
 *     more than TRANSPORT_HANDSHAKE_BYTES_MAX: the other side has proved nothing.
 *   - `error` is set once. From then on every call returns its code and OpenSSL is not asked again.
 *   - OpenSSL keeps its queue of errors for the thread, so it is emptied before OpenSSL is asked,
 *     or the error of one connection would count for another.
 *   - Each function that lets OpenSSL write flushes the pipe behind it: what stays there nobody
 *     sends.
 */
#include "runtime/net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/net/security_impl.h"
#include "runtime/net/tls_pipe.h"

/* RFC 8446, section 5.1: the text of one record. */
#define RECORD_BYTES 16384u

struct tls {
    SSL *ssl;
    const struct security *security;
    struct tls_pipe pipe;
    bool done;    /* the handshake */
    bool drained; /* SSL has no whole record left */
    char *host;
    char identity[TRANSPORT_IDENTITY_MAX];
    struct error error; /* what ended it */
};

static void keep_identity(struct tls *tls, X509 *certificate)
{
    BIO *text = BIO_new(BIO_s_mem());
    tls->identity[0] = '\0';
    /* One line, and all that is not plain ASCII escaped: it goes into logs. */
    if (text != NULL &&
        X509_NAME_print_ex(text, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253) > 0) {
        int size = BIO_read(text, tls->identity, sizeof tls->identity - 1);
        tls->identity[size > 0 ? size : 0] = '\0';
    }
    BIO_free(text);
}

/* Runs for each certificate of the chain; keeps whose it is, for the message. */
static int tls_look(int valid, X509_STORE_CTX *check)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(check, SSL_get_ex_data_X509_STORE_CTX_idx());
    X509 *certificate = X509_STORE_CTX_get_current_cert(check);
    if (!valid && certificate != NULL)
        keep_identity(SSL_get_app_data(ssl), certificate);
    return valid;
}

static bool is_address(const char *host)
{
    ASN1_OCTET_STRING *address = a2i_IPADDRESS(host);
    ASN1_OCTET_STRING_free(address);
    return address != NULL;
}

static bool expect_host(SSL *ssl, const char *host)
{
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    X509_VERIFY_PARAM_set_hostflags(param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                               X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    return is_address(host) ? X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1
                            : X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}

static int tls_begin(struct tls *tls, bool connects, const char *peer_host)
{
    tls->ssl = SSL_new(tls->security->context);
    if (tls->ssl == NULL ||
        tls_pipe_init(&tls->pipe, tls->pipe.stream, TRANSPORT_HANDSHAKE_BYTES_MAX) < 0)
        return TR_ENOMEM;
    BIO *bio = tls_pipe_bio(&tls->pipe);
    if (bio == NULL)
        return TR_ENOMEM;
    /* SSL takes the BIO over: from here on SSL_free() frees it. */
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_app_data(tls->ssl, tls);
    SSL_set_verify(tls->ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, tls_look);
    if (connects)
        SSL_set_connect_state(tls->ssl);
    else
        SSL_set_accept_state(tls->ssl);
    if (peer_host == NULL || tls->security->has_shared_key)
        return 0;
    tls->host = strdup(peer_host);
    return tls->host != NULL && expect_host(tls->ssl, peer_host) ? 0 : TR_ENOMEM;
}

int tls_create(struct stream *stream, const struct security *security, bool connects,
               const char *peer_host, struct tls **tls, struct error *error)
{
    ERR_clear_error();
    struct tls *made = calloc(1, sizeof *made);
    *tls = NULL;
    if (made != NULL) {
        made->security = security;
        made->pipe.stream = stream;
        strcpy(made->identity, "not authenticated");
    }
    if (made == NULL || tls_begin(made, connects, peer_host) < 0) {
        tls_destroy(made);
        return error_set(error, TR_ENOMEM, "no memory for a connection through TLS");
    }
    *tls = made;
    return 0;
}

void tls_destroy(struct tls *tls)
{
    if (tls == NULL)
        return;
    /* The good-bye goes into the pipe, so the pipe is flushed behind it; SSL is freed before the
     * pipe, whose method its BIO has. */
    if (tls->done && tls->error.code == 0)
        SSL_shutdown(tls->ssl);
    tls_pipe_flush(&tls->pipe);
    SSL_free(tls->ssl);
    tls_pipe_fini(&tls->pipe);
    free(tls->host);
    free(tls);
    ERR_clear_error();
}

static int tls_explain_failure(struct tls *tls)
{
    struct tls_failure failure = {
        .status = tls->pipe.in_status != 0 ? tls->pipe.in_status : tls->pipe.out_status,
        .verify = SSL_get_verify_result(tls->ssl),
        .identity = tls->identity,
        .host = tls->host,
        .speaks_tls = tls->pipe.num_first == 0 || tls->pipe.first[0] == 21 ||
                      tls_looks_like_record(tls->pipe.first, tls->pipe.num_first),
        .silent = tls->pipe.num_first == 0,
        .has_shared_key = tls->security->has_shared_key,
    };
    /* A shared key leaves it unspecified: there was no certificate. */
    if (tls->done || failure.verify == X509_V_ERR_UNSPECIFIED)
        failure.verify = X509_V_OK;
    return tls_explain(&failure, &tls->error);
}

/* The key that both have is no certificate: that it was used is all there is to check. */
static int tls_finish(struct tls *tls)
{
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    if (tls->security->has_shared_key) {
        if (!SSL_session_reused(tls->ssl))
            return error_set(&tls->error, TR_EPERM, "the peer does not have our shared key");
        strcpy(tls->identity, "shared key");
    } else if (certificate == NULL) {
        return error_set(&tls->error, TR_EPERM, "the peer showed no certificate");
    } else {
        keep_identity(tls, certificate);
    }
    /* Only now may as much be read as the user asks for. */
    tls->done = true;
    tls->pipe.may_read = SIZE_MAX;
    return 0;
}

int tls_handshake(struct tls *tls, struct error *error)
{
    if (tls->done)
        return 0;
    int rc = tls->error.code;
    if (rc == 0) {
        ERR_clear_error();
        int result = SSL_do_handshake(tls->ssl);
        /* This is asked at once: it reads OpenSSL's queue, which the next call changes. */
        int why = SSL_get_error(tls->ssl, result);
        if (result == 1)
            rc = tls_finish(tls);
        else if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
            rc = 1;
        else
            rc = tls_explain_failure(tls);
        /* The pipe is flushed after a failure too: the alert says the reason to the other side. */
        tls_pipe_flush(&tls->pipe);
    }
    if (rc < 0 && error != NULL)
        *error = tls->error;
    return rc;
}

/* The code that ended the connection; its message stays for transport_error. */
static int tls_fail(struct tls *tls, int result)
{
    if (tls->error.code == 0) {
        if (SSL_get_error(tls->ssl, result) == SSL_ERROR_ZERO_RETURN)
            tls->pipe.in_status = TR_EEND;
        tls_explain_failure(tls);
    }
    return tls->error.code;
}

/* > 0, 0: would block, TR_E*. */
static ssize_t read_part(struct tls *tls, void *data, size_t size)
{
    size_t got = 0;
    int result = SSL_read_ex(tls->ssl, data, size, &got);
    if (result == 1)
        return (ssize_t)got;
    if (SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ) {
        tls->drained = true;
        return 0;
    }
    return tls_fail(tls, result);
}

ssize_t tls_readv(struct tls *tls, const struct iovec *parts, int num_parts)
{
    ssize_t total = 0;
    if (tls->error.code != 0)
        return tls->error.code;
    ERR_clear_error();
    /* The flag is cleared before SSL is read, which sets it. */
    tls->drained = false;
    for (int i = 0; i < num_parts; i++) {
        size_t at = 0;
        while (at < parts[i].iov_len) {
            ssize_t got = read_part(tls, (char *)parts[i].iov_base + at, parts[i].iov_len - at);
            /* Bytes that were read are returned first: an error stays in `error` for the next
             * call. */
            if (got <= 0)
                return total > 0 ? total : got;
            at += (size_t)got;
            total += got;
        }
    }
    return total;
}

/* A place in a vector of parts. */
struct cursor {
    const struct iovec *parts;
    int num_parts;
    int part;
    size_t at;
};

static void skip_empty(struct cursor *cursor)
{
    while (cursor->part < cursor->num_parts && cursor->at == cursor->parts[cursor->part].iov_len) {
        cursor->part++;
        cursor->at = 0;
    }
}

/* The next record's text: in place where a part has that much, else gathered, so that a header of
 * 16 bytes does not become a record. Moves the cursor behind it. */
static size_t next_text(struct cursor *cursor, unsigned char gathered[RECORD_BYTES],
                        const void **text)
{
    size_t size = 0;
    skip_empty(cursor);
    while (cursor->part < cursor->num_parts && size < RECORD_BYTES) {
        const struct iovec *part = &cursor->parts[cursor->part];
        const char *from = (const char *)part->iov_base + cursor->at;
        size_t left = part->iov_len - cursor->at;
        size_t take = left < RECORD_BYTES - size ? left : RECORD_BYTES - size;
        cursor->at += take;
        skip_empty(cursor);
        if (size == 0 && (take == RECORD_BYTES || cursor->part == cursor->num_parts)) {
            *text = from;
            return take;
        }
        memcpy(gathered + size, from, take);
        size += take;
    }
    *text = gathered;
    return size;
}

/* A side that refuses us says why before it ends the connection; the break must not hide it. */
static ssize_t fail_writing(struct tls *tls)
{
    unsigned char byte;
    size_t got;
    int result = SSL_read_ex(tls->ssl, &byte, 1, &got);
    if (result != 1 && SSL_get_error(tls->ssl, result) == SSL_ERROR_SSL)
        return tls_fail(tls, result);
    return tls_fail(tls, -1);
}

ssize_t tls_writev(struct tls *tls, const struct iovec *parts, int num_parts)
{
    struct cursor cursor = { parts, num_parts, 0, 0 };
    unsigned char gathered[RECORD_BYTES];
    ssize_t total = 0;
    if (tls->error.code != 0)
        return tls->error.code;
    ERR_clear_error();
    while (tls_pipe_room(&tls->pipe)) {
        /* Room was asked for before the text is taken: what SSL has encrypted cannot be taken
         * back. */
        const void *text;
        size_t put = 0, size = next_text(&cursor, gathered, &text);
        if (size == 0)
            break;
        int result = SSL_write_ex(tls->ssl, text, size, &put);
        if (result != 1)
            return tls_fail(tls, result);
        total += (ssize_t)put;
    }
    tls_pipe_flush(&tls->pipe);
    return tls->pipe.out_status != 0 ? fail_writing(tls) : total;
}

bool tls_pending(const struct tls *tls)
{
    return tls->done && tls->error.code == 0 && !tls->drained &&
           (SSL_has_pending(tls->ssl) == 1 || tls_pipe_has(&tls->pipe));
}

unsigned tls_want(struct tls *tls, unsigned what)
{
    tls_pipe_flush(&tls->pipe);
    /* This stands behind the flush, which may find the break. */
    if (tls->error.code != 0 || tls->pipe.out_status != 0)
        return what | STREAM_READABLE; /* the stream tells at once, and the user hears why */
    return (tls->done ? what : STREAM_READABLE) |
           (tls_pipe_waits(&tls->pipe) ? STREAM_WRITABLE : 0);
}

bool tls_names(const struct tls *tls, const char *host)
{
    if (!tls->done)
        return false;
    if (tls->security->has_shared_key)
        return true;
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    unsigned flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
    return is_address(host) ? X509_check_ip_asc(certificate, host, flags) == 1
                            : X509_check_host(certificate, host, 0, flags, NULL) == 1;
}

bool tls_is_done(const struct tls *tls)
{
    return tls->done;
}

bool tls_has_heard(const struct tls *tls)
{
    return tls->pipe.num_first > 0;
}

bool tls_has_answered(const struct tls *tls)
{
    return tls_has_heard(tls) && tls->pipe.wrote;
}

const char *tls_identity(const struct tls *tls)
{
    return tls->done ? tls->identity : "not authenticated";
}

const struct error *tls_error(const struct tls *tls)
{
    return &tls->error;
}

/* RFC 8446, section 5.1: a handshake record (22) of version 3.x. */
bool tls_looks_like_record(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    return size >= 3 && byte[0] == 22 && byte[1] == 3 && byte[2] <= 4;
}
