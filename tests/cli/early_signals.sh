# SPDX-License-Identifier: Apache-2.0
# A signal before a command catches any, while libraries are still initialised, ends the process as
# the signal does by default, and with a sentence.
. "${srcdir:-.}/tests/cli/tap.sh"

# A library that sends the signal from where the BLAS makes its threads: before main(), and only in
# the program itself, which libtool may start by a shell.
for signal in INT TERM; do
    cat >"$work/strike.c" <<END
#include <signal.h>
#include <string.h>
#include <unistd.h>
__attribute__((constructor)) static void strike(void)
{
    char name[4096] = "";
    ssize_t length = readlink("/proc/self/exe", name, sizeof name - 1);
    if (length > 0 && strstr(strrchr(name, '/'), "troupe") != NULL)
        kill(getpid(), SIG$signal);
}
END
    ${CC:-cc} -shared -fPIC -o "$work/strike-$signal.so" "$work/strike.c" || exit 99
done

# struck SIGNAL COMMAND...: with the signal's default action, which a shell may have changed.
struck() {
    signal=$1
    shift
    run env --default-signal="$signal" LD_PRELOAD="$work/strike-$signal.so" "$@"
}

# A sanitizer has to be loaded first, and main() sets the handlers then.
if [ -z "${TROUPE_CFLAGS:-}" ]; then
    struck INT "$TROUPE" --version
    expect "Ctrl-C before main() ends the process" exited 130
    expect "... and says so" complains '^troupe: stopped by Ctrl-C (SIGINT)$'
    struck TERM "$TROUPE" --version
    expect "so does SIGTERM" exited 143
    expect "... in its own words" complains '^troupe: stopped by SIGTERM$'
    run env --ignore-signal=INT LD_PRELOAD="$work/strike-INT.so" "$TROUPE" --version
    expect "a signal that was ignored stays so" exited 0
fi
run "$TROUPE" --version
expect "nothing is said without a signal" sh -c "! test -s '$work/err'"
finish
