# A look at graphs: what is there is shown, what is not is named.
. "${srcdir:-.}/tests/cli/tap.sh"

troupe generate sbm --nodes 60 --edges 300 --features 4 --classes 3 --out "$work/raw" --quiet
troupe inspect "$work/raw"
expect "a raw graph is shown to people" says '^_N  *60$'
expect "with its features" says '^_N  *feat  *float32  *\[4\]$'
troupe inspect "$work/raw" --json
expect "and to scripts, in one line" says '^{"kind":"raw graph","graph":"sbm",.*"edges":300.*"shape":\[4\].*}$'

troupe inspect "$work/nowhere"
expect "a folder that is not there is named" fails_with "$work/nowhere"
troupe inspect "$work/nowhere.json"
expect "a book that is not there is named" fails_with "$work/nowhere.json"
mkdir "$work/none"
troupe inspect "$work/none"
expect "a folder without a graph is named" fails_with "$work/none"
echo '{' >"$work/broken.json"
troupe inspect "$work/broken.json"
expect "a broken book is named" fails_with "$work/broken.json"
troupe partition "$work/raw" --parts 2 --method random --name g --out "$work/parts" --quiet
troupe inspect "$work/parts/g.json" --json
expect "a partitioned graph is shown" says '"kind":"partitioned graph".*"parts":2.*"halo_nodes":[1-9]'
short="$work/parts/part1/node~_N~halo1.npy"
truncate -s -8 "$short"
troupe inspect "$work/parts/g.json"
expect "a file that is too short is named, in whatever partition" fails_with "$short"
if [ -e /dev/full ]; then
    # shellcheck disable=SC2016 # expanded by the inner shell
    run sh -c '"$TROUPE" inspect "$1" --json >/dev/full' - "$work/raw"
    expect "results that cannot be written are an error" fails_with "standard output"
else
    skip "results that cannot be written" "/dev/full is not here"
fi
finish
