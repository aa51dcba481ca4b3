# SPDX-License-Identifier: Apache-2.0
# Adds a bool to the end of each public struct that says its size, as a later version would: whatever
# padding the struct had takes it in, and behind it there is none.
/^struct tr_[a-z_]* \{$/ { begun = 1; grows = 0 }
begun && /^    size_t size;/ { grows = 1 }
begun && /^\};/ {
    if (grows) {
        print "    _Bool of_a_later_version;"
        print "    unsigned char reserved_later[sizeof(size_t) - 1];"
    }
    begun = 0
}
{ print }
