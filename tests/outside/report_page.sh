# SPDX-License-Identifier: Apache-2.0
# The page of troupe report in a browser: it fits its window, says nothing on the console, loads
# nothing, and has a picture in either mode. Needs chromium (Debian: apt-get install chromium).
. "${srcdir:-.}/tests/cli/tap.sh"

if ! command -v chromium >"$work/which"; then
    skip "the page in a browser" "chromium is not here"
    finish
    exit
fi

"$TROUPE" generate sbm --nodes 300 --edges 3000 --features 4 --classes 3 --out "$work/raw" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
"$TROUPE" partition "$work/raw" --parts 3 --method random --name g --out "$work/parts" --quiet \
    >"$work/out" 2>"$work/err" || exit 99
long=a_name_of_a_run_that_is_much_longer_than_a_window_of_four_hundred_pixels_and_has_no_blank
for run in one "$long" '<script>document.title=7<|script>'; do
    "$TROUPE" train "$work/parts" --run "$work/$run" --epochs 9 --hidden 8 --batch-size 64 --quiet \
        >"$work/out" 2>"$work/err" || exit 99
done
"$TROUPE" infer "$work/parts" --run "$work/one" --by-class --json --quiet >"$work/one/by-class.json" || exit 99
troupe report "$work/one" "$work/$long" "$work/<script>document.title=7<|script>" --out "$work/page.html"
expect "there is a page" exited 0

# browse WIDTH MODE FILE WORDS...: 0 light, 1 dark. Time is the page's own, so a slow machine only waits.
browse() {
    window=$1 scheme=$2 file=$3
    shift 3
    run chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" \
        --allow-file-access-from-files --enable-logging=stderr --blink-settings=preferredColorScheme="$scheme" \
        --window-size="$window",900 "$@" "file://$file"
}

for width in 400 1400; do
    # The window itself is not made narrower than 500 pixels, a frame in it is.
    cat >"$work/frame.html" <<EOF
<iframe id="page" src="page.html" style="width:${width}px;height:900px;border:0"></iframe>
<script>onload = () => { const page = document.getElementById('page').contentDocument;
document.body.dataset.found = page.documentElement.scrollWidth + '/' + page.querySelectorAll('svg[role=img]').length +
    '/' + page.scripts.length + '/' + page.images.length + '/' + page.links.length; };</script>
EOF
    browse 1500 1 "$work/frame.html" --dump-dom
    expect "$width pixels: all fits, pictures are there, no script, image or link" \
        says "data-found=\"$width/12/0/0/0\""
    expect "$width pixels: the console is silent" eval '! complains CONSOLE'
done
for mode in 0 1; do
    browse 1400 "$mode" "$work/page.html" --screenshot="$work/$mode.png"
    expect "mode $mode: there is a picture" [ -s "$work/$mode.png" ]
done
expect "dark mode is another picture" eval '! cmp -s "$work/0.png" "$work/1.png"'
finish
