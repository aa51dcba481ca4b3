# SPDX-License-Identifier: Apache-2.0
# A thread that hangs in a matrix product is reported and ends its process, in a step, in a validation
# and in the last test; a launcher puts another process in its place, and the run comes out the same.
# The BLAS does hang: a library in front of it stands still in a product, once, as soon as a file has something in it.
. "${srcdir:-.}/tests/cli/job.sh"

cat >"$work/hang.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void product(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float *a, int lda,
                 const float *b, int ldb, float beta, float *c, int ldc)
{
    const char *when = getenv("HANG_WHEN"), *once = getenv("HANG_ONCE");
    struct stat facts;
    if (when != NULL && once != NULL && stat(when, &facts) == 0 && facts.st_size > 0 && unlink(once) == 0)
        for (;;)
            pause();
    ((product *)dlsym(RTLD_NEXT, "cblas_sgemm"))(order, a_form, b_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
END
# No sanitizer: it would have to be the first library.
# shellcheck disable=SC2086 # a compiler may come with options
expect "a library in front of the BLAS compiles" ${CC:-cc} -w -shared -fPIC -o "$work/hang.so" "$work/hang.c" -ldl

# Hangs when that file has bytes. A step may take a second on a busy machine that does nothing wrong, and
# is then reported in place of the other: the outcome is the same. What is not reported is killed.
hangs() {
    when=$1
    shift
    : >"$work/once"
    run timeout -s KILL 100 env LD_PRELOAD="$work/hang.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
        HANG_WHEN="$when" HANG_ONCE="$work/once" "$@"
}
reported() { exited 1 && complains 'trainer 0 made no progress for [0-9]* s (--step-limit)' && complains 'the stack of thread'; }

# shellcheck disable=SC2086 # words are meant to be split
train() {
    rm -rf "$work/run"
    hangs "$1" "$TROUPE" train "$work/g/toy.json" --run "$work/run" --seed 3 $learning --step-limit 1 "$2" "$3"
}

train "$work/run/metrics.jsonl" --eval none
expect "a step that hangs ends the process" reported
expect "and it did hang" absent "$work/once"
# The best model is written behind the only validation, the last model behind it: the next product tests.
train "$work/run/metrics.jsonl" --eval-every 1000
expect "a step that hangs before a validation ends the process" reported
train "$work/run/model.safetensors" --eval-every 1000
expect "a test that hangs ends the process" reported
expect "and it hung there" absent "$work/once"

undisturbed one
cluster "$role_hosts" ', "limits": {"step_limit": 1}'
: >"$work/once"
LD_PRELOAD="$work/hang.so" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
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
