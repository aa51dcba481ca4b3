# SPDX-License-Identifier: Apache-2.0
# STRUCTS(X): X(tag) for each public struct that says its size.
BEGIN { printf "#define STRUCTS(X)" }
/^struct tr_[a-z_]* \{$/ { tag = $2 }
tag != "" && /^    size_t size;/ { printf " \\\n    X(%s)", tag }
/^\};/ { tag = "" }
END { print "" }
