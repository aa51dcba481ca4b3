# SPDX-License-Identifier: Apache-2.0
# Adds a field to the end of each public struct that says its size, as a later version would.
/^struct tr_[a-z_]* \{$/ { begun = 1; grows = 0 }
begun && /^    size_t size;/ { grows = 1 }
begun && /^\};/ {
    if (grows)
        print "    uint64_t of_a_later_version;"
    begun = 0
}
{ print }
