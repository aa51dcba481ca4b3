/* SPDX-License-Identifier: Apache-2.0 */
/* The refusals of libtroupe-model, and how its tasks are cancelled: for test_model_api.sh, on a
 * graph and a finished run. It uses the public headers and the libraries alone. */
#include <assert.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/model.h>
#include <troupe/trainer_state.h>

#define CHECK(what)                                                               \
    do {                                                                          \
        if (!(what)) {                                                            \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #what, error.message); \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static struct tr_train_options options_of(const char *graph, const char *run)
{
    struct tr_train_options options;
    tr_train_options_init(&options);
    options.graph = graph;
    options.run = run;
    options.epochs = 2;
    options.hidden = 8;
    return options;
}

static void check_options(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct tr_train_options options = options_of(graph, run);
    options.model = "transformer";
    CHECK(tr_train_start(&options, &task, &error) == TR_EINVAL && task == NULL);
    CHECK(strstr(error.message, "model 'transformer'") != NULL);
    options = options_of(graph, run);
    options.num_layers = TR_LAYERS_MAX + 1;
    CHECK(tr_train_start(&options, &task, &error) == TR_ERANGE && task == NULL);
    options = options_of(NULL, run);
    CHECK(tr_train_start(&options, &task, &error) == TR_EINVAL && task == NULL);
    options = options_of(graph, run);
    options.features = NULL;
    CHECK(tr_train_start(&options, &task, &error) == TR_EINVAL && task == NULL);
    options.size = 0;
    CHECK(tr_train_start(&options, &task, &error) == TR_EINVAL && task == NULL);
    CHECK(tr_train_start(&options, &task, NULL) == TR_EINVAL);
    struct tr_infer_options infer;
    tr_infer_options_init(&infer);
    CHECK(tr_infer_start(&infer, &task, &error) == TR_EINVAL && task == NULL);
}

/* A program of a later release sets what this library does not know; one of an earlier release
 * knows less of it. */
static void check_sizes(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct {
        struct tr_infer_options options;
        uint64_t later;
    } grown;
    tr_infer_options_init_sized(&grown.options, sizeof grown);
    assert(grown.options.size == sizeof grown && grown.later == 0);
    grown.options.graph = graph;
    grown.options.run = run;
    grown.later = 1;
    CHECK(tr_infer_start(&grown.options, &task, &error) == TR_EUNSUPPORTED && task == NULL);
    grown.later = 0;
    CHECK(tr_infer_start(&grown.options, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    struct {
        size_t size;
        uint64_t labelled;
        unsigned char beyond[sizeof(struct tr_scores)];
    } old = { .size = 2 * sizeof(uint64_t) };
    memset(old.beyond, 7, sizeof old.beyond);
    CHECK(tr_infer_get_scores(task, TR_SPLIT_TEST, (struct tr_scores *)(void *)&old, &error) == 0);
    CHECK(old.labelled > 0 && old.beyond[0] == 7);
    tr_task_close(task);
}

static void check_kinds(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_task *task;
    struct tr_rows rows = TR_ROWS_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_scores scores = TR_SCORES_INIT;
    struct tr_infer_options infer;
    tr_infer_options_init(&infer);
    infer.graph = graph;
    infer.run = run;
    infer.sampled = true;
    CHECK(tr_infer_start(&infer, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    CHECK(tr_train_get_result(task, &result, NULL, NULL, &error) == TR_EINVAL);
    CHECK(tr_train_get_epoch(task, 0, &epoch, NULL, &error) == TR_EINVAL);
    CHECK(tr_infer_get_scores(task, (enum tr_split)7, &scores, &error) == TR_EINVAL);
    CHECK(tr_infer_get_outputs(task, &rows, &error) == 0 && rows.num_rows > 0);
    for (size_t i = 0; i < rows.num_rows * rows.width; i++)
        CHECK(isfinite(((const float *)rows.rows)[i]));
    uint64_t classes = rows.width, sum = 0, right = 0;
    uint64_t *counts = calloc(classes * classes, sizeof *counts);
    CHECK(tr_infer_get_confusion(task, (enum tr_split)7, counts, classes * classes, &error) ==
          TR_EINVAL);
    CHECK(tr_infer_get_confusion(task, TR_SPLIT_TEST, counts, classes, &error) == TR_EINVAL);
    CHECK(strstr(error.message, "square") != NULL);
    CHECK(tr_infer_get_confusion(task, TR_SPLIT_TEST, counts, classes * classes, &error) == 0);
    CHECK(tr_infer_get_scores(task, TR_SPLIT_TEST, &scores, &error) == 0);
    for (uint64_t c = 0; c < classes * classes; c++)
        sum += counts[c];
    for (uint64_t c = 0; c < classes; c++)
        right += counts[c * classes + c];
    CHECK(sum == scores.labelled && sum > 0);
    CHECK(fabs((double)right / (double)sum - scores.accuracy) < 1e-12);
    free(counts);
    CHECK(tr_infer_get_embeddings(task, &rows, &error) == TR_ENOENT);
    const char *type = NULL;
    struct tr_rows same = TR_ROWS_INIT;
    CHECK(tr_infer_node_type(task, 0, &type, &error) == 0 && strcmp(type, "_N") == 0);
    CHECK(tr_infer_get_outputs_of(task, 0, &same, &error) == 0 && same.num_rows > 0);
    CHECK(tr_infer_node_type(task, 1, &type, NULL) == TR_ERANGE);
    CHECK(tr_infer_get_outputs_of(task, 1, &same, NULL) == TR_ERANGE);
    CHECK(strstr(error.message, "options.embeddings") != NULL);
    CHECK(tr_infer_write_embeddings(task, "hidden.npy", &error) == TR_ENOENT);
    CHECK(tr_infer_write(task, "/nowhere/logits.npy", &error) == TR_ENOENT);
    CHECK(strstr(error.message, "/nowhere/logits.npy") != NULL);
    CHECK(tr_infer_write(task, "/nowhere/predictions.csv", &error) == TR_ENOENT);
    CHECK(strstr(error.message, "/nowhere/predictions.csv") != NULL);
    tr_task_close(task);
    /* An error in the graph or the folder is the outcome. */
    infer.graph = "/nowhere/g.json";
    CHECK(tr_infer_start(&infer, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_ENOENT);
    CHECK(strstr(error.message, "/nowhere/g.json") != NULL);
    CHECK(tr_infer_get_outputs(task, &rows, &error) == TR_EEND);
    CHECK(tr_infer_get_embeddings(task, &rows, &error) == TR_EEND);
    CHECK(tr_infer_write_embeddings(task, "hidden.npy", &error) == TR_EEND);
    CHECK(tr_infer_get_scores(task, TR_SPLIT_TEST, &scores, &error) == TR_EEND);
    CHECK(tr_infer_get_confusion(task, TR_SPLIT_TEST, NULL, 0, &error) == TR_EEND);
    tr_task_close(task);
    struct tr_train_options options = options_of(graph, run);
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_EEXIST);
    CHECK(tr_train_get_result(task, &result, NULL, NULL, &error) == TR_EEND);
    CHECK(tr_infer_get_outputs(task, &rows, &error) == TR_EINVAL);
    tr_task_close(task);
}

/* A training that would take for ever ends soon after it was asked, and its epochs stay. */
static void check_cancel(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_task *task;
    int rv = 0;
    options.epochs = 1000000;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    while (tr_train_get_epoch(task, 0, &epoch, NULL, &error) != 0 && rv != TR_EINVAL)
        CHECK((rv = tr_task_wait(task, 1000000, &error)) == TR_ETIMEDOUT);
    CHECK(epoch.epoch == 0 && epoch.steps > 0 && isfinite(epoch.train_loss));
    tr_task_cancel(task);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_ECANCELED);
    CHECK(tr_train_get_epoch(task, 0, &epoch, NULL, &error) == 0);
    CHECK(tr_train_get_result(task, &result, NULL, NULL, &error) == TR_EEND);
    tr_task_close(task);
    /* Closing alone ends it too. */
    options.replace = true;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    tr_task_close(task);
}

/* The seconds of a validation are not those of an epoch's batches: it is a phase of its own. */
static void check_phases(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_task_progress now = TR_TASK_PROGRESS_INIT;
    struct tr_task *task;
    bool batches = false, validation = false;
    options.epochs = 1000000;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    while (!batches || !validation) {
        CHECK(tr_task_progress(task, &now, &error) == 0 && !now.finished);
        if (strcmp(now.unit, "batches") == 0) {
            CHECK(strstr(now.phase, "validation") == NULL);
            batches = true;
        } else if (strstr(now.phase, ", validation") != NULL) {
            CHECK(strncmp(now.phase, "epoch ", 6) == 0 && now.total == 0);
            validation = true;
        }
    }
    tr_task_cancel(task);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_ECANCELED);
    tr_task_close(task);
}

static int run_nothing(struct tr_task *task, void *arg, struct tr_error *error)
{
    (void)task;
    (void)arg;
    (void)error;
    return 0;
}

/* A part that somebody else saved has no position. */
static void check_position(void)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_trainer_position position = TR_TRAINER_POSITION_INIT;
    const char head[TR_TRAINER_HEAD_BYTES] = "somebody else's";
    CHECK(tr_trainer_position_read(head, &position, &error) == TR_EFORMAT);
}

/* Events of a task end with the task, and other tasks have none. */
static void check_events(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_task *task;
    struct tr_infer_options infer;
    tr_infer_options_init(&infer);
    infer.graph = graph;
    infer.run = run;
    CHECK(tr_infer_start(&infer, &task, &error) == 0);
    CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == TR_EEND);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    CHECK(tr_model_next_event(task, 0, &event, &error) == TR_EEND);
    tr_task_close(task);
    /* A name is no kind: a program's own training has no events of ours. */
    const char *const names[] = { "nothing", "train", "infer" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct tr_task_work work = TR_TASK_WORK_INIT;
        work.name = names[i];
        work.run = run_nothing;
        work.kind = names;
        CHECK(tr_task_start(&work, NULL, &task, &error) == 0);
        CHECK(tr_model_next_event(task, 0, &event, &error) == TR_EINVAL);
        tr_task_close(task);
    }
}

/* Two trainers here, with checkpoints; the task ends when its result was passed on, not before. */
static void check_ranks(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_scores test = TR_SCORES_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_task *task;
    uint32_t ready = 0, epochs = 0, checkpoints = 0, trained = 0;
    options.trainers = 2;
    options.checkpoint_every = 1;
    options.confirm = true;
    options.resume = options.replace = true;
    CHECK(tr_train_start(&options, &task, &error) == TR_EINVAL && task == NULL);
    options.resume = options.replace = false;
    options.step_limit_ns = TR_TRAIN_LIMIT_UNSAID - 1;
    CHECK(tr_train_start(&options, &task, &error) == TR_ERANGE && task == NULL);
    options.step_limit_ns = 0;
    /* A program that takes this signal by sigwait(), say, keeps it: no thread of the library
     * does. */
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, TR_MODEL_STACK_SIGNAL);
    CHECK(pthread_sigmask(SIG_BLOCK, &mine, NULL) == 0);
    options.threads = 4;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    int rv;
    while ((rv = tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error)) == 0) {
        CHECK(kill(getpid(), TR_MODEL_STACK_SIGNAL) == 0);
        ready += event.kind == TR_MODEL_READY && event.text[0] != '\0';
        checkpoints += event.kind == TR_MODEL_CHECKPOINT;
        if (event.kind == TR_MODEL_EPOCH) {
            CHECK(ready == 1 && event.number == epochs);
            CHECK(strstr(event.text, epochs == 0 ? "epoch 1: loss " : "epoch 2: loss ") != NULL);
            epochs++;
        }
        if (event.kind != TR_MODEL_TRAINED)
            continue;
        trained++;
        CHECK(tr_model_next_event(task, 200000000, &event, &error) == TR_ETIMEDOUT);
        CHECK(tr_task_wait(task, 0, &error) == TR_ETIMEDOUT);
        CHECK(tr_train_get_result(task, &result, NULL, &test, &error) == 0);
        CHECK(result.epochs == 2 && result.tested && isfinite(result.train_loss));
        CHECK(test.labelled > 0);
        CHECK(tr_train_confirm(task, &error) == 0);
    }
    CHECK(rv == TR_EEND && epochs == 2 && checkpoints >= 2 && trained == 1);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    CHECK(tr_model_dump(task, &error) == TR_ECLOSED);
    tr_task_close(task);
    CHECK(sigpending(&mine) == 0 && sigismember(&mine, TR_MODEL_STACK_SIGNAL));
    /* It is in the way of another run in its folder, and its checkpoints of one elsewhere. */
    char other[512], kept[512];
    snprintf(other, sizeof other, "%s-other", run);
    snprintf(kept, sizeof kept, "%s/checkpoints", run);
    options.confirm = false;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_train_confirm(task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_EEXIST);
    CHECK(strstr(error.message, "holds a run already") != NULL);
    tr_task_close(task);
    options.run = other;
    options.checkpoints = kept;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_EEXIST);
    CHECK(strstr(error.message, "has checkpoints already") != NULL);
    tr_task_close(task);
}

/* One that waits to be confirmed ends when it is cancelled or closed. */
static void check_unconfirmed(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_task *task;
    options.confirm = options.replace = true;
    options.epochs = 1;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    do
        CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == 0);
    while (event.kind != TR_MODEL_TRAINED);
    tr_task_close(task);
}

/* The model of a run, as its file has it. */
static void check_model(const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_tensor tensor = TR_TENSOR_INIT;
    struct tr_model *model;
    uint64_t values = 0;
    CHECK(tr_model_open("/nowhere", &model, &error) == TR_ENOENT && model == NULL);
    CHECK(strstr(error.message, "/nowhere") != NULL);
    CHECK(tr_model_open(NULL, &model, &error) == TR_EINVAL && model == NULL);
    CHECK(tr_model_open(run, &model, &error) == 0);
    CHECK(tr_model_info(model, &info, &error) == 0);
    CHECK(strcmp(info.kind, "sage") == 0 && info.layers == 2 && info.classes == 4);
    CHECK(info.inputs == 16 && info.hidden == 16 && strcmp(info.features, "feat") == 0);
    CHECK(info.num_tensors > 0);
    for (size_t i = 0; i < info.num_tensors; i++) {
        uint64_t elements = 1;
        CHECK(tr_model_tensor(model, i, &tensor, &error) == 0);
        CHECK(tensor.dtype == TR_F32 && strncmp(tensor.name, "layers.", 7) == 0);
        for (uint32_t d = 0; d < tensor.ndim; d++)
            elements *= tensor.shape[d];
        CHECK(tensor.bytes == elements * sizeof(float));
        for (uint64_t v = 0; v < elements; v++) {
            float value;
            memcpy(&value, (const char *)tensor.data + v * sizeof value, sizeof value);
            CHECK(isfinite(value));
        }
        values += elements;
    }
    CHECK(values > 0 && tr_model_tensor(model, info.num_tensors, &tensor, &error) == TR_ERANGE);
    CHECK(info.num_relations == 0 && info.heads == 0 && info.label_type == NULL);
    CHECK(tr_model_relation(model, 0, NULL, NULL, &error) == TR_ERANGE);
    tr_model_close(model);
    tr_model_close(NULL);
}

/* Relations are named with their own parameters: of each layer a matrix and two vectors a head. */
static void check_relations(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_info info = TR_MODEL_INFO_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_model *model;
    struct tr_task *task;
    const char *name = NULL;
    uint64_t parameters = 0;
    options.model = "gat";
    options.heads = 2;
    options.epochs = 1;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    tr_task_close(task);
    CHECK(tr_model_open(run, &model, &error) == 0);
    CHECK(tr_model_info(model, &info, &error) == 0);
    CHECK(info.heads == 2 && info.bases == 0 && info.num_relations == 1);
    CHECK(tr_model_relation(model, 0, &name, &parameters, &error) == 0);
    CHECK(strcmp(name, "_N:_E:_N") == 0);
    CHECK(parameters == 8 * 16 + 2 * 8 + 2 * 4 * 8 + 2 * 2 * 4);
    CHECK(tr_model_relation(model, 0, NULL, NULL, &error) == 0);
    CHECK(tr_model_relation(model, 1, &name, &parameters, &error) == TR_ERANGE);
    tr_model_close(model);
}

/* A process of a cluster, as a program that nobody launched: model_api member CLUSTER HOST RUN. */
static int train_member(const char *cluster, const char *host, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_process_options asked;
    struct tr_train_options options = options_of(NULL, run);
    struct tr_task_progress progress = TR_TASK_PROGRESS_INIT;
    struct tr_process *process;
    struct tr_task *task;
    tr_process_options_init(&asked);
    asked.cluster = cluster;
    asked.host = host;
    CHECK(tr_process_open(&asked, TR_WAIT_FOREVER, &process, &error) == 0);
    options.process = process;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == 0);
    CHECK(tr_task_progress(task, &progress, &error) ==
          0); /* of its own trainer, whichever rank it is */
    CHECK(strcmp(progress.phase, "epoch 2") == 0 && progress.done > 0);
    CHECK(progress.done == progress.total);
    tr_task_close(task);
    tr_process_close(process);
    return 0;
}

/* The same, cancelled while it waits for another process that never comes. */
static int cancel_member(const char *cluster, const char *host, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_process_options asked;
    struct tr_train_options options = options_of(NULL, run);
    struct tr_process *process;
    struct tr_task *task;
    tr_process_options_init(&asked);
    asked.cluster = cluster;
    asked.host = host;
    CHECK(tr_process_open(&asked, TR_WAIT_FOREVER, &process, &error) == 0);
    options.process = process;
    CHECK(tr_train_start(&options, &task, &error) == 0);
    CHECK(tr_task_wait(task, 1000000000, &error) == TR_ETIMEDOUT);
    tr_task_cancel(task);
    CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_ECANCELED);
    tr_task_close(task);
    tr_process_close(process);
    return 0;
}

/* A run that failed before anything was found is in nobody's way. */
static void check_retry(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_task *task;
    options.batch_size = 1;
    options.hidden = 256; /* an epoch that lasts */
    for (int i = 0; i < 2; i++) {
        CHECK(tr_train_start(&options, &task, &error) == 0);
        do
            CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == 0);
        while (event.kind != TR_MODEL_READY);
        tr_task_cancel(task);
        CHECK(tr_task_wait(task, TR_WAIT_FOREVER, &error) == TR_ECANCELED);
        tr_task_close(task);
    }
}

struct waiting {
    struct tr_task *task;
    atomic_int thread; /* its number for the system; 0: not begun */
};

static void *wait_for_event(void *arg)
{
    struct waiting *waiting = arg;
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    atomic_store(&waiting->thread, (int)syscall(SYS_gettid));
    return (void *)(intptr_t)tr_model_next_event(waiting->task, TR_WAIT_FOREVER, &event, NULL);
}

static bool sleeps(int thread)
{
    char path[64], state = 'R';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *from = fopen(path, "re");
    if (from == NULL || fscanf(from, "%*d (%*[^)]) %c", &state) != 1)
        state = 'R';
    if (from != NULL)
        fclose(from);
    return state == 'S';
}

/* A child of fork() learns that it is one, a struct that cannot be filled loses no event, and
 * a thread that waits for one when the task is closed is woken. */
static void check_waiting(const char *graph, const char *run)
{
    struct tr_error error = TR_ERROR_INIT;
    struct tr_train_options options = options_of(graph, run);
    struct tr_model_event event = TR_MODEL_EVENT_INIT;
    struct tr_train_result result = TR_TRAIN_RESULT_INIT;
    struct tr_train_epoch epoch = TR_TRAIN_EPOCH_INIT;
    struct tr_rows rows = TR_ROWS_INIT;
    struct tr_task *task;
    pthread_t thread;
    void *rv;
    int status;
    options.confirm = true; /* it does not end by itself */
    CHECK(tr_train_start(&options, &task, &error) == 0);
    struct pollfd polled = { .fd = tr_model_descriptor(task), .events = POLLIN };
    CHECK(poll(&polled, 1, 60000) == 1);
    event.size = 0;
    CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == TR_EINVAL);
    event.size = sizeof event;
    CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == 0);
    CHECK(event.kind == TR_MODEL_READY && event.dropped == 0);
    while (event.kind != TR_MODEL_TRAINED)
        CHECK(tr_model_next_event(task, TR_WAIT_FOREVER, &event, &error) == 0);
    pid_t child = fork();
    if (child == 0)
        _exit(tr_model_next_event(task, 0, &event, NULL) == TR_EFORKED &&
                      tr_train_get_result(task, &result, NULL, NULL, NULL) == TR_EFORKED &&
                      tr_train_get_epoch(task, 0, &epoch, NULL, NULL) == TR_EFORKED &&
                      tr_train_confirm(task, NULL) == TR_EFORKED &&
                      tr_model_dump(task, NULL) == TR_EFORKED &&
                      tr_infer_get_outputs(task, &rows, NULL) == TR_EFORKED &&
                      tr_model_descriptor(task) == -1
                  ? 0
                  : 1);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    struct waiting waiting = { .task = task };
    CHECK(pthread_create(&thread, NULL, wait_for_event, &waiting) == 0);
    /* One that does not wait yet would begin a call on a closed task. */
    while (atomic_load(&waiting.thread) == 0 || !sleeps(atomic_load(&waiting.thread)))
        usleep(1000);
    tr_task_close(task);
    pthread_join(thread, &rv);
    CHECK((intptr_t)rv == TR_ECLOSED);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "member") == 0)
        return train_member(argv[2], argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "cancelled") == 0)
        return cancel_member(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "ranks") == 0) {
        check_ranks(argv[2], argv[3]);
        return 0;
    }
    assert(argc == 4); /* GRAPH, the folder of a finished run, one for a new run */
    check_options(argv[1], argv[2]);
    check_sizes(argv[1], argv[2]);
    check_kinds(argv[1], argv[2]);
    check_position();
    check_model(argv[2]);
    check_events(argv[1], argv[2]);
    check_cancel(argv[1], argv[3]);
    check_unconfirmed(argv[1], argv[3]);
    char waiting[4096];
    snprintf(waiting, sizeof waiting, "%s-relations", argv[3]);
    check_relations(argv[1], waiting);
    snprintf(waiting, sizeof waiting, "%s-phases", argv[3]);
    check_phases(argv[1], waiting);
    snprintf(waiting, sizeof waiting, "%s-waiting", argv[3]);
    check_waiting(argv[1], waiting);
    snprintf(waiting, sizeof waiting, "%s-retry", argv[3]);
    check_retry(argv[1], waiting);
    return 0;
}
