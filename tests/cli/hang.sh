# SPDX-License-Identifier: Apache-2.0
# A thread that hangs in a matrix product is reported and ends its process, in a step, in a validation
# and in the last test; a launcher puts another process in its place, and the run comes out the same.
# The BLAS does hang: a library in front of it stands still in a product, once, as soon as a file has something in it.
. "${srcdir:-.}/tests/cli/job.sh"

cat >"$work/hang.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void product(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

static atomic_int products;

static int has_bytes(const char *path)
{
    struct stat facts;
    return path != NULL && stat(path, &facts) == 0 && facts.st_size > 0;
}

/* HANG_WHEN: the file with something in it; HANG_AT: or the number of the product. HANG_ONCE: a file that
 * goes. HANG_COUNT: a file for the number of products before HANG_WHEN was there. */
static void look(int number)
{
    const char *when = getenv("HANG_WHEN"), *at = getenv("HANG_AT"), *once = getenv("HANG_ONCE");
    const char *count = getenv("HANG_COUNT");
    int due = at != NULL ? number == atoi(at) : has_bytes(when);
    if (count != NULL && !has_bytes(when)) {
        FILE *file = fopen(count, "w");
        fprintf(file, "%d\n", number);
        fclose(file);
    }
    if (due && once != NULL && unlink(once) == 0)
        for (;;)
            pause();
}

void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc)
{
    look(atomic_fetch_add(&products, 1) + 1);
    ((product *)dlsym(RTLD_NEXT, "cblas_sgemm"))(order, a_form, b_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
END
# No sanitizer: it would have to be the first library.
# shellcheck disable=SC2086 # a compiler may come with options
expect "a library in front of the BLAS compiles" ${CC:-cc} -w -shared -fPIC -o "$work/hang.so" "$work/hang.c" -ldl

before_blas="LD_PRELOAD=$work/hang.so ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
# train VARIABLE=VALUE OPTION...: what is not reported is killed. A step takes milliseconds; one that takes
# the 5 s of the limit on a machine that does nothing wrong would be reported in place of the other.
train() {
    variable=$1
    shift
    rm -rf "$work/run"
    : >"$work/once"
    # shellcheck disable=SC2086 # words are meant to be split
    run timeout -s KILL 100 env $before_blas "$variable" HANG_ONCE="$work/once" "$TROUPE" train "$work/g/toy.json" \
        --run "$work/run" --seed 3 $learning --threads 1 --step-limit 5 "$@"
}
reported() {
    exited 1 && absent "$work/once" && complains 'trainer 0 made no progress for [0-9]* s (--step-limit)' &&
        complains 'the stack of thread'
}

train HANG_WHEN="$work/run/metrics.jsonl" --eval none
expect "a step that hangs ends the process" reported
# The best model is written behind the only validation: the product before it is the validation's last one, and
# the next one, behind the last epoch's line, is the test's first.
# shellcheck disable=SC2086
run env HANG_COUNT="$work/count" $before_blas HANG_WHEN="$work/run/model.safetensors" "$TROUPE" train \
    "$work/g/toy.json" --run "$work/run" --replace --seed 3 $learning --threads 1 --eval-every 1000
expect "products are counted" exited 0
train HANG_AT="$(cat "$work/count")" --eval-every 1000
expect "a validation that hangs ends the process" reported
expect "and no model was written" absent "$work/run/model.safetensors"
train HANG_WHEN="$work/run/model.safetensors" --eval-every 1000
expect "a test that hangs ends the process" reported

undisturbed one
cluster "$role_hosts" ', "limits": {"step_limit": 5}'
: >"$work/once"
LD_PRELOAD="$work/hang.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
HANG_WHEN="$work/run/metrics.jsonl" HANG_ONCE="$work/once"
export LD_PRELOAD ASAN_OPTIONS HANG_WHEN HANG_ONCE
begin
unset LD_PRELOAD
finish_job
expect "a job ends whose trainer hung" exited 0
expect "it did hang" absent "$work/once"
expect "its process was replaced" complains 'made no progress'
expect "and it has the same result" same_run one
finish
