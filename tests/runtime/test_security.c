/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and certificates from files: errors name the file and the remedy,
 * before any connection; and keys are made for their owner alone. */
#include "tests/runtime/wires.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "runtime/base/files.h"
#include "runtime/net/security.h"

struct house {
    char folder[64], other[64];
};

static const char *at(const struct house *house, const char *name)
{
    static char paths[64][200];
    static unsigned next;
    char *path = paths[next++ % 64];
    snprintf(path, 200, "%s/%s", house->folder, name);
    return path;
}

static void expect(const struct security_options *options, int code, const char *first,
                   const char *second)
{
    struct security *security = NULL;
    struct error error = { 0 };
    assert_int_equal(security_create(options, &security, &error), code);
    assert_null(security);
    if (strstr(error.text, first) == NULL || strstr(error.text, second) == NULL)
        fail_msg("'%s' and '%s' are not both in '%s'", first, second, error.text);
}

static struct security_options of_host(const struct house *house, const char *name)
{
    char file[100];
    struct security_options options = { .ca = at(house, "ca.pem") };
    snprintf(file, sizeof file, "%s.pem", name);
    options.certificate = at(house, file);
    snprintf(file, sizeof file, "%s.key", name);
    options.key = at(house, file);
    return options;
}

static void a_secret_that_others_can_read_is_refused(void **state)
{
    struct house *house = *state;
    struct security_options options = of_host(house, "alpha");
    const unsigned modes[] = { 0644, 0640, 0604, 0660, 0620, 0601 };
    for (int i = 0; i < 6; i++) {
        assert_int_equal(chmod(options.key, modes[i]), 0);
        expect(&options, TR_EPERM, "chmod 600", "alpha.key");
        keys_file_write(at(house, "shared"), "x", modes[i]);
        expect(&(struct security_options){ .shared_key = at(house, "shared") }, TR_EPERM,
               "chmod 600", "/shared");
    }
    assert_int_equal(chmod(options.key, 0400), 0);
    security_destroy(keys_security(house->folder, "alpha"));
    assert_int_equal(chmod(options.key, 0600), 0);
}

static void missing_files_are_named(void **state)
{
    struct house *house = *state;
    struct security_options options = of_host(house, "alpha");
    options.ca = at(house, "nothing.pem");
    expect(&options, TR_ENOENT, "nothing.pem", "No such file");
    options = of_host(house, "nothing");
    expect(&options, TR_ENOENT, "nothing.pem", "No such file");
    options.certificate = at(house, "alpha.pem");
    expect(&options, TR_ENOENT, "nothing.key", "No such file");
    options.key = NULL;
    expect(&options, TR_EINVAL, "the key is missing", "");
    options = of_host(house, "alpha");
    options.shared_key = at(house, "shared");
    expect(&options, TR_EINVAL, "one of the two", "");
    expect(&(struct security_options){ 0 }, TR_EINVAL, "neither", "");
    expect(&(struct security_options){ .shared_key = house->folder }, TR_EINVAL, "not a plain file",
           "");
}

static void what_does_not_belong_together_is_refused(void **state)
{
    struct house *house = *state;
    struct security_options options = of_host(house, "alpha");
    options.key = at(house, "beta.key");
    expect(&options, TR_EMISMATCH, "beta.key", "alpha.pem");
    char ca[128];
    snprintf(ca, sizeof ca, "%s/ca.pem", house->other);
    options = of_host(house, "alpha");
    options.ca = ca;
    expect(&options, TR_EMISMATCH, "alpha.pem", "authority");
}

static void a_certificate_out_of_its_time_is_refused(void **state)
{
    (void)state;
    static const char *const HOSTS[] = { "alpha" };
    struct house old, early;
    keys_folder_make(old.folder, HOSTS, 1, time(NULL) - 60 * 86400);
    struct security_options options = of_host(&old, "alpha");
    expect(&options, TR_EMISMATCH, "expired", "--replace");
    keys_folder_remove(old.folder);
    keys_folder_make(early.folder, HOSTS, 1, time(NULL) + 86400);
    options = of_host(&early, "alpha");
    expect(&options, TR_EMISMATCH, "not yet valid", "clock");
    keys_folder_remove(early.folder);
}

static char *contents(const char *path)
{
    char *text = NULL;
    size_t size;
    assert_int_equal(files_read_all(files_posix, path, 1 << 20, &text, &size, NULL), 0);
    return text;
}

/* Cut anywhere, or with any character changed: refused or the same; never taken for another. */
static void damaged_files_are_refused(void **state)
{
    struct house *house = *state;
    char *certificate = contents(at(house, "alpha.pem")), *key = contents(at(house, "alpha.key"));
    struct security_options options = of_host(house, "alpha");
    options.certificate = at(house, "cut.pem");
    for (size_t size = 0; size + 30 < strlen(certificate); size += 7) {
        char *piece = strndup(certificate, size);
        keys_file_write(options.certificate, piece, 0644);
        expect(&options, TR_EFORMAT, "cut.pem", "certificate");
        free(piece);
    }
    options = of_host(house, "alpha");
    options.key = at(house, "cut.key");
    for (size_t size = 0; size + 30 < strlen(key); size += 7) {
        char *piece = strndup(key, size);
        keys_file_write(options.key, piece, 0600);
        expect(&options, TR_EFORMAT, "cut.key", "PRIVATE KEY");
        free(piece);
    }
    for (size_t i = 0; i < strlen(key); i += 3) {
        struct security *security = NULL;
        char *changed = strdup(key);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        keys_file_write(options.key, changed, 0600);
        if (security_create(&options, &security, NULL) == 0)
            security_destroy(security);
        free(changed);
    }
    options = of_host(house, "alpha");
    options.ca = at(house, "alpha.key");
    expect(&options, TR_EFORMAT, "alpha.key", "no certificate");
    free(certificate);
    free(key);
}

static void a_key_behind_a_passphrase_is_refused_without_asking(void **state)
{
    struct house *house = *state;
    struct security_options options = of_host(house, "alpha");
    options.key = at(house, "locked.key");
    keys_file_write(options.key,
                    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                    "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhgj5nGHOKvWAICCAAw\n"
                    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFHZ0dzIrSFZ1lLVB0gGjxMEgZAA\n"
                    "-----END ENCRYPTED PRIVATE KEY-----\n",
                    0600);
    expect(&options, TR_EFORMAT, "locked.key", "");
}

static void shared_keys_are_long_enough(void **state)
{
    struct house *house = *state;
    struct security_options options = { .shared_key = at(house, "shared") };
    const struct {
        const char *text, *says;
    } wrong[] = {
        { "", "openssl rand" },
        { "00112233445566778899aabbccddee\n", "15 bytes" },
        { "00112233445566778899aabbccddeeff00112233445566778899aabbccddee", "31 bytes" },
        { "MDEyMzQ1Njc4OQ==\n", "10 bytes" },
        { "correct horse battery staple, and some more!", "not a key in" },
        { "001122334455667788990011223344556677889900112233445566778899001", "not a key in" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        keys_file_write(options.shared_key, wrong[i].text, 0600);
        expect(&options, TR_EFORMAT, wrong[i].says, "shared");
    }
    keys_file_write(options.shared_key,
                    " 00112233445566778899aabbccddeeff\r\n00112233445566778899AABBCCDDEEFF\r\n",
                    0600);
    security_destroy(keys_shared(options.shared_key));
    keys_file_write(options.shared_key, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=", 0600);
    security_destroy(keys_shared(options.shared_key));
}

static unsigned mode_of(const char *path)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    return facts.st_mode & 07777;
}

static void what_exists_is_kept(void **state)
{
    (void)state;
    static const char *const HOSTS[] = { "one", "two" };
    struct house house;
    struct keys_report report;
    keys_folder_make(house.folder, HOSTS, 2, 0);
    assert_int_equal(mode_of(at(&house, "ca.key")), 0600);
    assert_int_equal(mode_of(at(&house, "one.key")), 0600);
    char *ca = contents(at(&house, "ca.pem")), *one = contents(at(&house, "one.pem"));
    struct keys_host hosts[] = { { "one", NULL }, { "three", "10.0.0.3" }, { "three", NULL } };
    struct keys_options options = {
        .folder = house.folder, .hosts = hosts, .num_hosts = 3, .days = 10
    };
    assert_int_equal(keys_make(&options, &report, NULL), 0);
    assert_false(report.made_authority);
    assert_int_equal(report.made, 1);
    assert_int_equal(report.kept, 1);
    char *now = contents(at(&house, "one.pem"));
    assert_string_equal(one, now);
    free(now);
    security_destroy(keys_security(house.folder, "three"));
    options.replace = true;
    assert_int_equal(keys_make(&options, &report, NULL), 0);
    assert_int_equal(report.made, 2);
    now = contents(at(&house, "one.pem"));
    assert_string_not_equal(one, now);
    free(now);
    now = contents(at(&house, "ca.pem"));
    assert_string_equal(ca, now);
    free(now);
    security_destroy(keys_security(house.folder, "one"));
    free(ca);
    free(one);
    keys_folder_remove(house.folder);
}

static void names_that_are_no_hosts_are_refused(void **state)
{
    struct house *house = *state;
    const char *names[] = { "", "../up", "a/b", ".hidden", "-x", "a b", "a,DNS:b", "ca", "a\nb" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct keys_host host = { names[i], NULL };
        struct keys_options options = {
            .folder = house->folder, .hosts = &host, .num_hosts = 1, .days = 1
        };
        struct keys_report report;
        assert_int_equal(keys_make(&options, &report, NULL), TR_EINVAL);
    }
}

/* The first and the last day that there are, and their neighbours that are none. */
static void days_have_bounds(void **state)
{
    static const struct {
        uint32_t days;
        const char *said; /* NULL: keys are made */
    } cases[] = { { 0, "0 days: 1 to 36500 are possible" },
                  { 1, NULL },
                  { KEYS_DAYS_MAX, NULL },
                  { KEYS_DAYS_MAX + 1, "36501 days: 1 to 36500 are possible" } };
    struct house *house = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct keys_host host = { "gamma", NULL };
        struct keys_options options = { .folder = house->folder,
                                        .hosts = &host,
                                        .num_hosts = 1,
                                        .days = cases[i].days,
                                        .replace = true };
        struct keys_report report = { .made = 77 };
        struct error error = { 0 };
        assert_int_equal(keys_make(&options, &report, &error), cases[i].said ? TR_EINVAL : 0);
        assert_int_equal(report.made, cases[i].said == NULL);
        if (cases[i].said != NULL)
            assert_string_equal(error.text, cases[i].said);
    }
}

static int set_up(void **state)
{
    static const char *const HOSTS[] = { "alpha", "beta" };
    struct house *house = calloc(1, sizeof *house);
    assert_non_null(house);
    keys_folder_make(house->folder, HOSTS, 2, 0);
    keys_folder_make(house->other, HOSTS, 1, 0);
    *state = house;
    return 0;
}

static int tear_down(void **state)
{
    struct house *house = *state;
    keys_folder_remove(house->folder);
    keys_folder_remove(house->other);
    free(house);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_that_others_can_read_is_refused),
        cmocka_unit_test(missing_files_are_named),
        cmocka_unit_test(what_does_not_belong_together_is_refused),
        cmocka_unit_test(a_certificate_out_of_its_time_is_refused),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(a_key_behind_a_passphrase_is_refused_without_asking),
        cmocka_unit_test(shared_keys_are_long_enough),
        cmocka_unit_test(what_exists_is_kept),
        cmocka_unit_test(names_that_are_no_hosts_are_refused),
        cmocka_unit_test(days_have_bounds),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
