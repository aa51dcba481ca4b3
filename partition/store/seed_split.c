/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/store/seed_split.h"

#include <inttypes.h>
#include <stdlib.h>

#include "graph/key.h"
#include "partition/store/npy.h"
#include "runtime/base/crc32c.h"

uint64_t seed_split_hash(const struct seed_split *deal)
{
    uint64_t sum = key_mix(deal->num_nodes * KEY_STEP ^ deal->num_trainers);
    for (uint64_t v = 0; v < deal->num_nodes; v++)
        sum += key_mix(key_mix((v + 1) * KEY_STEP) ^ (uint32_t)deal->trainers[v]);
    return key_mix(sum);
}

static int check_form(const struct npy *npy, const char *path, uint64_t num_nodes,
                      struct error *error)
{
    const struct npy_header *header = &npy->header;
    if (header->ndim != 1 || header->item_bytes != 4 ||
        (header->kind != 'i' && header->kind != 'u'))
        return error_set(error, TR_EFORMAT,
                         "%s: a deal is a list of 32-bit integers, one a node; "
                         "this is an array of %" PRIu32 " dimensions of %c%u",
                         path, header->ndim, header->kind, header->item_bytes);
    if (npy->num_rows != num_nodes)
        return error_set(error, TR_EMISMATCH,
                         "%s: a deal of %" PRIu64 " nodes, the graph has %" PRIu64
                         "; it is another graph's",
                         path, npy->num_rows, num_nodes);
    return 0;
}

static int check_shares(const struct seed_split *deal, const uint64_t *counts, const char *path,
                        struct error *error)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t t = 0; t < deal->num_trainers; t++) {
        least = counts[t] < least ? counts[t] : least;
        most = counts[t] > most ? counts[t] : most;
    }
    if (most - least <= 1)
        return 0;
    return error_set(error, TR_EMISMATCH,
                     "%s: of %" PRIu32 " trainers one has %" PRIu64 " nodes and another %" PRIu64
                     "; their numbers may differ by 1 at most: is it "
                     "a deal for fewer trainers?",
                     path, deal->num_trainers, least, most);
}

static int check_trainers(const struct seed_split *deal, const char *path, struct error *error)
{
    uint64_t *counts = calloc((size_t)deal->num_trainers + 1, sizeof *counts);
    int rv = counts == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", path) : 0;
    for (uint64_t v = 0; v < deal->num_nodes && rv == 0; v++) {
        int32_t trainer = deal->trainers[v];
        if (trainer < -1 || trainer >= (int64_t)deal->num_trainers)
            rv = error_set(error, TR_EMISMATCH,
                           "%s: node %" PRIu64 " is dealt to trainer %" PRIu32
                           ", there are %" PRIu32 "; partition again for that many "
                           "trainers",
                           path, v, (uint32_t)trainer, deal->num_trainers);
        else if (trainer >= 0)
            counts[trainer]++;
    }
    if (rv == 0)
        rv = check_shares(deal, counts, path, error);
    free(counts);
    return rv;
}

static int check_sum(const struct seed_split *deal, struct npy *npy, uint32_t checksum,
                     struct error *error)
{
    uint32_t sum;
    int rv = npy_header_checksum(npy, &sum, error);
    if (rv != 0)
        return rv;
    sum = crc32c(sum, deal->trainers, (size_t)deal->num_nodes * sizeof *deal->trainers);
    if (sum == checksum)
        return 0;
    return error_set(error, TR_EFORMAT,
                     "%s: its checksum is %08" PRIx32 ", the partition book "
                     "says %08" PRIx32 ": the file was damaged or is another one; copy it again, "
                     "or partition again",
                     npy->file.path, sum, checksum);
}

int seed_split_read(struct seed_split *deal, struct files *files, const char *path,
                    uint64_t num_nodes, uint32_t num_trainers, const uint32_t *checksum,
                    struct error *error)
{
    struct npy npy;
    *deal = (struct seed_split){ .num_nodes = num_nodes, .num_trainers = num_trainers };
    int rv = npy_open(&npy, files, path, error);
    if (rv != 0)
        return rv;
    rv = check_form(&npy, path, num_nodes, error);
    /* The file holds as many: the product does not overflow. */
    if (rv == 0) {
        deal->trainers = malloc((size_t)num_nodes * sizeof *deal->trainers + 1);
        rv = deal->trainers == NULL ? error_set(error, TR_ENOMEM, "%s: no memory", path)
                                    : npy_read_rows(&npy, 0, num_nodes, deal->trainers, error);
    }
    /* The sum is checked before the values: a damaged file is reported as that, and not by what
     * it says. */
    if (rv == 0 && checksum != NULL)
        rv = check_sum(deal, &npy, *checksum, error);
    npy_close(&npy);
    if (rv == 0)
        rv = check_trainers(deal, path, error);
    if (rv == 0)
        deal->hash = seed_split_hash(deal);
    else
        seed_split_fini(deal);
    return rv;
}

void seed_split_fini(struct seed_split *deal)
{
    free(deal->trainers);
    *deal = (struct seed_split){ 0 };
}

int seed_split_even_out(int32_t *trainers, uint64_t num_nodes, uint64_t *counts,
                        uint32_t num_trainers)
{
    uint64_t total = 0, *share = calloc((size_t)num_trainers + 1, sizeof *share);
    if (share == NULL)
        return TR_ENOMEM;
    for (uint32_t t = 0; t < num_trainers; t++)
        total += counts[t];
    for (uint32_t t = 0; t < num_trainers; t++)
        share[t] = total / num_trainers + (t < total % num_trainers);
    for (uint64_t v = num_nodes; v-- > 0;) {
        if (trainers[v] < 0 || counts[trainers[v]] <= share[trainers[v]])
            continue;
        uint32_t to = (uint32_t)trainers[v];
        do
            to = (to + 1) % num_trainers;
        while (counts[to] >= share[to]);
        counts[trainers[v]]--;
        counts[to]++;
        trainers[v] = (int32_t)to;
    }
    free(share);
    return 0;
}
