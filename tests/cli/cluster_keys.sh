# SPDX-License-Identifier: Apache-2.0
# Keys of a cluster: for their owner alone, signed by the cluster's authority, never written over
# without --replace.
. "${srcdir:-.}/tests/cli/tap.sh"

has_mode() { [ "$(stat -c %a "$1")" = "$2" ]; }
make_keys() { troupe cluster keys --out "$work/keys" --json "$@"; }
sums() { (cd "$work/keys" && sha256sum "$@"); }

umask 000
make_keys --hosts node1,10.0.0.2,::1
expect "keys are made for each host" says '"made_authority":true,"made":3,"kept":0'
for file in ca node1 10.0.0.2 ::1; do
    expect "$file.key is its owner's alone" has_mode "$work/keys/$file.key" 600
done
expect "the folder too" has_mode "$work/keys" 700
if command -v openssl >/dev/null; then
    run openssl verify -CAfile "$work/keys/ca.pem" -purpose sslserver "$work/keys/node1.pem"
    expect "the authority signed it, to answer with" exited 0
    run openssl verify -CAfile "$work/keys/ca.pem" -purpose sslclient "$work/keys/node1.pem"
    expect "and to connect with" exited 0
    run openssl x509 -in "$work/keys/node1.pem" -noout -ext subjectAltName
    expect "a host is named" says 'DNS:node1'
    run openssl x509 -in "$work/keys/10.0.0.2.pem" -noout -ext subjectAltName
    expect "and an address" says 'IP Address:10.0.0.2'
    run openssl x509 -in "$work/keys/node1.pem" -noout -checkend $((364 * 86400 - 7200))
    expect "it is valid for a year" exited 0
    run openssl verify -CAfile "$work/keys/node1.pem" "$work/keys/10.0.0.2.pem"
    expect "a host is no authority" [ "$code" != 0 ]
else
    skip "certificates are as OpenSSL wants them" "openssl is not here"
fi

sums ca.pem ca.key node1.pem node1.key >"$work/before"
make_keys --hosts node1,node4,node4
expect "a host can be added" says '"made_authority":false,"made":1,"kept":1'
sums ca.pem ca.key node1.pem node1.key >"$work/after"
expect "what was there is kept" cmp -s "$work/before" "$work/after"
make_keys --hosts node1 --replace --days 30
expect "replaced when asked" says '"made":1,"kept":0'
sums node1.pem node1.key >"$work/after"
expect "by others" [ "$(grep -c -F -f "$work/after" "$work/before")" = 0 ]
sums ca.pem ca.key >"$work/after"
expect "of the same authority" [ "$(grep -c -F -f "$work/after" "$work/before")" = 2 ]

cp "$work/keys/node4.key" "$work/keys/node1.key"
make_keys --hosts node1
expect "keys that do not belong together are found" fails_with 'node1.key.*node1.pem'
rm "$work/keys/node1.key"
make_keys --hosts node1
expect "half a pair is made anew" says '"made":1'
rm "$work/keys/ca.key"
make_keys --hosts node5
expect "half an authority is not" fails_with 'authority.*ca.key'
expect "and nothing is made of it" absent "$work/keys/node5.key"

cat >"$work/cluster.json" <<'END'
{"name": "toy", "hosts": [
  {"name": "first", "address": "10.1.0.1", "port": 7000, "servers": 1, "samplers": 1, "trainers": 1},
  {"name": "second", "address": "second.example.org", "port": 7000, "servers": 1}],
 "tls": {"ca": "keys/ca.pem", "certificate": "keys/%h.pem", "key": "keys/%h.key"}}
END
troupe cluster keys --cluster "$work/cluster.json" --out "$work/more" --json
expect "a cluster file names the hosts" says '"made":2'
if command -v openssl >/dev/null; then
    run openssl x509 -in "$work/more/first.pem" -noout -ext subjectAltName
    expect "with their addresses" says 'DNS:first, IP Address:10.1.0.1'
fi

troupe cluster keys --out "$work/none"
expect "the hosts have to be given" refuses_with '--cluster FILE and --hosts'
troupe cluster keys --out "$work/none" --hosts ../up
expect "a host is no path" fails_with "host '../up'"
troupe cluster keys --out "$work/none" --hosts a,,b
expect "nor nothing" fails_with "host ''"
troupe cluster keys --out "$work/none" --hosts ca
expect "nor the authority" fails_with "full name"
expect "nothing was made" absent "$work/none"
finish
