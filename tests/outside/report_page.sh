# SPDX-License-Identifier: Apache-2.0
# The page of troupe report in a browser: it fits its window, says nothing on the console, loads
# nothing, has a picture in either mode, and nothing in it keeps anybody from reading it, as far as axe-core can tell
# (https://github.com/dequelabs/axe-core). Needs chromium (Debian: apt-get install chromium), and axe.min.js of axe-core: from
# npm, or the file that TROUPE_AXE names.
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
        says "data-found=\"$width/15/0/0/0\""
    expect "$width pixels: the console is silent" eval '! complains CONSOLE'
done
for mode in 0 1; do
    browse 1400 "$mode" "$work/page.html" --screenshot="$work/$mode.png"
    expect "mode $mode: there is a picture" [ -s "$work/$mode.png" ]
done
expect "dark mode is another picture" eval '! cmp -s "$work/0.png" "$work/1.png"'

axe=${TROUPE_AXE-}
if [ -z "$axe" ] && command -v npm >"$work/which"; then
    (cd "$work" && npm pack axe-core >"$work/out" 2>"$work/err" && tar xzf axe-core-*.tgz) && axe=$work/package/axe.min.js
fi
if [ -z "$axe" ]; then
    skip "what axe-core finds" "there is no npm that gets it, and TROUPE_AXE names no axe.min.js"
    finish
    exit
fi

# audited FROM TO: the page with axe-core in it, which writes what it finds into the attribute data-axe.
audited() {
    {
        sed 's|</body>.*||' "$1"
        printf '<script>'
        cat "$axe"
        cat <<'EOF'
</script><script>onload = () => axe.run(document).then(found => { document.body.dataset.axe =
found.violations.map(v => v.impact + ' ' + v.id).join(', ') || found.passes.length + ' rules hold'; });</script></body></html>
EOF
    } >"$2"
}

# audit WIDTH MODE: what was found is all that is left of what the browser printed.
audit() {
    browse "$1" "$2" "$work/audited.html" --virtual-time-budget=60000 --dump-dom
    grep -o 'data-axe="[^"]*"' "$work/out" >"$work/found"
    mv "$work/found" "$work/out"
}

audited "$work/page.html" "$work/audited.html"
for mode in 0 1; do
    for width in 500 1400; do
        audit "$width" "$mode"
        expect "mode $mode, $width pixels: axe-core finds no fault" says 'data-axe="[0-9]* rules hold"'
    done
done
sed 's|<body[^>]*>|&<p style="color:#888;background:#999">unreadable</p>|' "$work/page.html" >"$work/bad.html"
audited "$work/bad.html" "$work/audited.html"
audit 1400 0
expect "axe-core finds text that cannot be read" says 'serious color-contrast'
finish
