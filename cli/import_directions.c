/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages go along edges: where each edge of an undirected graph stands once, half of them have no
 * way; where edges stand both ways, the reverses that --undirected adds stand there a second time.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/cmd_import.h"
#include "cli/lib/raw_report.h"

/* One pair of so many. */
#define DOUBLED_SHARE 100

void import_hint_at_directions(struct report *report, const struct import_directions *directions)
{
    const uint64_t seen = directions->pairs_seen, mutual = directions->pairs_mutual;
    const bool mostly = mutual * 2 >= seen;
    char hint[300] = "";
    if (!directions->undirected && !mostly)
        snprintf(hint, sizeof hint,
                 "%" PRIu64 " of %" PRIu64 " pairs of nodes have edges both ways: where the graph "
                 "is undirected, import with --undirected%s",
                 mutual, seen, mutual > 0 && directions->can_merge ? " --duplicates merge" : "");
    /* A few edges that count twice change nothing; and without --duplicates a remedy exists only
     * where most of them do. */
    const bool matters = mutual * DOUBLED_SHARE >= seen && (mostly || directions->can_merge);
    if (directions->undirected && !directions->merged && mutual > 0 && matters)
        snprintf(hint, sizeof hint,
                 "%" PRIu64 " of %" PRIu64
                 " pairs of nodes had edges both ways before --undirected added reverses, so that "
                 "each of these edges is there twice: import %s%s",
                 mutual, seen, mostly ? "without --undirected" : "with --duplicates merge",
                 mostly && directions->can_merge ? ", or with --duplicates merge" : "");
    if (hint[0] != '\0')
        report_text(report, "hint", "hint", hint);
}
