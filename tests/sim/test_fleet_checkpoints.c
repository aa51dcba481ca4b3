/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulator's oracle of checkpoints notices what is wrong on the disks of a cluster: a part that
 * is on too few hosts, a restore to an older step, what was left behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "actors/job/checkpoint.h"
#include "actors/job/checkpoint_paths.h"
#include "runtime/core/message.h"
#include "runtime/sim/env_sim.h"
#include "sim/fleet_checkpoints.h"
#include "sim/sim_trainer_state.h"

#define HOSTS 3u
#define RANKS 2u
#define ERA 1u
#define KEEP 2u

/* Trainer r is on host r, and host r + 1 keeps copies for it; the coordinator is on host 0. */
static struct fleet *open_fleet(void)
{
    struct fleet *fleet = calloc(1, sizeof *fleet);
    assert_non_null(fleet);
    assert_int_equal(env_sim_create(1, NULL, &fleet->env), 0);
    fleet->plan.plan = (struct plan){ .num_processes = HOSTS,
                                      .num_hosts = HOSTS,
                                      .trainers = RANKS,
                                      .processes = fleet->plan.processes };
    for (uint32_t p = 0; p < HOSTS; p++)
        fleet->plan.processes[p] = (struct plan_process){ .host = p, .trainers = { p, p < RANKS } };
    fleet->plan.own_disks = true;
    fleet->complete = true;
    fleet->plan.keep = KEEP;
    fleet_disks_init(fleet);
    return fleet;
}

static void close_fleet(struct fleet *fleet)
{
    fleet_disks_fini(fleet);
    env_destroy(fleet->env);
    free(fleet);
}

static struct files *disk_of(struct fleet *fleet, uint32_t host)
{
    return fleet->disks.items[host].looks;
}

static struct checkpoint_part write_part(struct fleet *fleet, uint32_t host, uint64_t step,
                                         uint32_t rank)
{
    struct checkpoint_part part;
    assert_int_equal(checkpoint_write_part(disk_of(fleet, host), FLEET_CHECKPOINTS, step, ERA, rank,
                                           &step, sizeof step, &part, NULL),
                     0);
    return part;
}

/* The parts on two hosts each, the manifest on the first `hosts`. */
static void save(struct fleet *fleet, uint64_t step, uint32_t hosts, uint32_t keep)
{
    struct checkpoint_part parts[RANKS];
    const struct checkpoint_manifest manifest = { step, ERA, RANKS, parts };
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        parts[rank] = write_part(fleet, rank, step, rank);
        (void)write_part(fleet, rank + 1, step, rank);
    }
    for (uint32_t host = 0; host < hosts; host++)
        assert_int_equal(
            checkpoint_receive(disk_of(fleet, host), FLEET_CHECKPOINTS, &manifest, keep, NULL), 0);
}

static void lose_part(struct fleet *fleet, uint32_t host, const char *path)
{
    assert_true(files_exists(disk_of(fleet, host), path));
    assert_int_equal(files_remove_tree(disk_of(fleet, host), path, NULL), 0);
}

/* What is wrong, if anything is, begins so; NULL: nothing. */
static void check(struct fleet *fleet, const char *wanted)
{
    assert_int_equal(fleet->error.code, wanted == NULL ? 0 : TR_EMISMATCH);
    if (wanted != NULL && strncmp(fleet->error.text, wanted, strlen(wanted)) != 0)
        fail_msg("\"%s\" is not \"%s\"", fleet->error.text, wanted);
    fleet->error = (struct error){ 0 };
}

static void check_end(struct fleet *fleet, const char *wanted)
{
    fleet_checkpoints_ended(fleet);
    check(fleet, wanted);
}

static void what_was_committed_is_on_two_hosts(void **state)
{
    struct fleet *fleet = open_fleet();
    (void)state;
    check_end(fleet, NULL);
    save(fleet, 4, HOSTS, KEEP);
    fleet->committed = 4;
    check_end(fleet, NULL);
    lose_part(fleet, 1, FLEET_CHECKPOINTS "/checkpoint-4/part0");
    check_end(fleet, "the part of trainer 0 of the checkpoint of step 4 is on one host alone");
    /* The host has been replaced since. */
    fleet->disks.replaced = 1;
    fleet->disks.replaced_after = 4;
    check_end(fleet, NULL);
    fleet->disks.replaced_after = 3;
    check_end(fleet, "the part of trainer 0 of the checkpoint of step 4 is on one host alone");
    fleet->disks.replaced_after = 4;
    lose_part(fleet, 0, FLEET_CHECKPOINTS "/checkpoint-4/part0");
    check_end(fleet, "the newest whole checkpoint is of step 0, but 4 was committed");
    fleet->committed = 0;
    check_end(fleet, "the checkpoint of step 4, era 1 lacks a part");
    /* A disk that did not sync may have it from a save that failed. */
    for (uint32_t host = 0; host < HOSTS; host++)
        fleet->disks.items[host].failed = true;
    check_end(fleet, NULL);
    close_fleet(fleet);
}

static void an_older_checkpoint_is_no_newest(void **state)
{
    struct fleet *fleet = open_fleet();
    (void)state;
    save(fleet, 4, HOSTS, KEEP);
    fleet_checkpoints_restored(fleet, 4);
    check(fleet, NULL);
    fleet_checkpoints_restored(fleet, 3);
    check(fleet, "an era began at step 3, and the checkpoint of step 4, era 1 is whole");
    /* On the coordinator's host alone the next one does not count. */
    save(fleet, 8, 1, KEEP);
    fleet_checkpoints_restored(fleet, 4);
    check(fleet, NULL);
    save(fleet, 8, 2, KEEP);
    fleet_checkpoints_restored(fleet, 4);
    check(fleet, "an era began at step 4, and the checkpoint of step 8, era 1 is whole");
    close_fleet(fleet);
}

static void leftovers_are_noticed_where_nothing_went_wrong(void **state)
{
    bool made[13] = { false };
    struct fleet *fleet = open_fleet();
    fleet->plan.steps = 12;
    fleet->made = made;
    (void)state;
    save(fleet, 4, HOSTS, KEEP);
    fleet->offered = 12;
    (void)write_part(fleet, 2, 3, 0);
    check_end(fleet, "disk 2: checkpoints/3-1.tmp was left");
    fleet->disks.items[2].disturbed = true;
    check_end(fleet, NULL);
    /* A save that failed is dropped; the last one may be under way. */
    (void)write_part(fleet, 1, 12, 0);
    check_end(fleet, NULL);
    (void)write_part(fleet, 1, 8, 0);
    check_end(fleet, "disk 1: checkpoints/8-1.tmp was left");
    /* It was made, and this host did not hear of it before the end. */
    fleet->made[8] = true;
    check_end(fleet, NULL);
    fleet->made[8] = false;
    fleet->plan.num_failpoints = 1; /* whoever was to drop it died */
    check_end(fleet, NULL);
    close_fleet(fleet);
}

static void no_more_checkpoints_are_kept_than_wanted(void **state)
{
    struct fleet *fleet = open_fleet();
    (void)state;
    save(fleet, 4, HOSTS, KEEP + 1);
    save(fleet, 8, HOSTS, KEEP + 1);
    check_end(fleet, NULL);
    save(fleet, 12, HOSTS, KEEP + 1);
    check_end(fleet, "disk 0 has 3 checkpoints, and is to keep 2");
    lose_part(fleet, 1, FLEET_CHECKPOINTS "/checkpoint-4/manifest.json");
    fleet->disks.items[0].disturbed = true;
    check_end(fleet, "disk 1: checkpoints/checkpoint-4/manifest.json");
    close_fleet(fleet);
}

static void restore(struct fleet *fleet, uint32_t rank, uint32_t era, uint64_t step)
{
    struct message *reply = calloc(1, sizeof *reply + sizeof(struct msg_group_reply));
    struct sim_trainer trainer = {
        .fleet = fleet, .plan = &fleet->plan, .process = &fleet->processes[rank], .rank = rank
    };
    assert_non_null(reply);
    *(struct msg_group_reply *)message_head(reply) = (struct msg_group_reply){ .step = step,
                                                                               .era = era };
    sim_trainer_restored(&trainer, reply);
    free(reply);
}

/* One step an era, as long as anybody knows of it: where the coordinator and all trainers died, the
 * next one may have its number and begin elsewhere. */
static void an_era_begins_at_one_step(void **state)
{
    uint64_t hashes[9] = { 0 };
    struct fleet *fleet = open_fleet();
    (void)state;
    fleet->plan.steps = 8;
    fleet->expected.hashes = hashes;
    for (uint32_t p = 0; p < HOSTS; p++)
        fleet->processes[p].node = (struct node *)(void *)fleet; /* it lives */
    restore(fleet, 0, 3, 6);
    restore(fleet, 1, 3, 6);
    check(fleet, NULL);
    restore(fleet, 1, 3, 5);
    check(fleet, "in era 3 trainer 1 is at step 5, others at 6");
    restore(fleet, 0, 4, 5);
    restore(fleet, 1, 4, 5);
    check(fleet, NULL);
    fleet->processes[1].era = 0; /* of another life */
    restore(fleet, 1, 4, 6);
    check(fleet, "in era 4 trainer 1 is at step 6, others at 5");
    for (uint32_t p = 0; p < HOSTS; p++)
        fleet->processes[p].era = 0;
    restore(fleet, 0, 4, 4);
    check(fleet, NULL);
    restore(fleet, 1, 4, 6);
    check(fleet, "in era 4 trainer 1 is at step 6, others at 4");
    close_fleet(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_committed_is_on_two_hosts),
        cmocka_unit_test(an_older_checkpoint_is_no_newest),
        cmocka_unit_test(an_era_begins_at_one_step),
        cmocka_unit_test(leftovers_are_noticed_where_nothing_went_wrong),
        cmocka_unit_test(no_more_checkpoints_are_kept_than_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
