/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `troupe train` and what they mean for a run.
 */
#include <stddef.h>

#include "cli/train/train.h"

/* Two hidden layers, and the last one. */
#define RESIDUAL_LAYERS 3

#define AT(field) offsetof(struct train_values, field)

const struct option_spec train_options[] = {
    { .name = "run",
      .kind = OPTION_TEXT,
      .offset = AT(run),
      .metavar = "RUNDIR",
      .made = true,
      .required = true,
      .help = "the folder for config.json, metrics.jsonl and model.safetensors" },
    { .name = "task",
      .kind = OPTION_CHOICE,
      .offset = AT(task),
      .choices = "node|link",
      .fallback = "node",
      .help = "what is learned: labels of nodes, or which nodes an edge joins" },
    { .name = "negatives",
      .kind = OPTION_COUNT,
      .offset = AT(negatives),
      .metavar = "K",
      .fallback = "0",
      .max = TR_TRAIN_NEGATIVES_MAX,
      .help = "for --task link: pairs that are drawn for each edge to be told from it; 0: 1" },
    { .name = "negative-ends",
      .field = "options.negative_ends",
      .kind = OPTION_CHOICE,
      .offset = AT(negative_ends),
      .choices = "auto|destinations|sources|either|both",
      .fallback = "auto",
      .help = "for --task link: the ends of these pairs that are drawn; auto: destinations" },
    { .name = "negatives-by",
      .field = "options.negatives_by",
      .kind = OPTION_CHOICE,
      .offset = AT(negatives_by),
      .choices = "auto|uniform|degree",
      .fallback = "auto",
      .help = "for --task link: which nodes are likely there; auto: uniform" },
    { .name = "negatives-no-edges",
      .field = "options.negatives_no_edges",
      .kind = OPTION_FLAG,
      .offset = AT(negatives_no_edges),
      .help = "for --task link: draw such pairs again that are edges" },
    { .name = "edge-type",
      .field = "options.edge_type",
      .kind = OPTION_TEXT,
      .offset = AT(edge_type),
      .metavar = "REL",
      .help = "for --task link: the edges that are learned, REL or SRC:REL:DST; otherwise the only "
              "type" },
    { .name = "reverse-edge-type",
      .field = "options.reverse_edge_type",
      .kind = OPTION_TEXT,
      .offset = AT(reverse_edge_type),
      .metavar = "REL",
      .help = "for --task link: the type that has these edges the other way; otherwise "
              "DST:rev_REL:SRC" },
    { .name = "model",
      .kind = OPTION_CHOICE,
      .offset = AT(model),
      .choices = "auto|sage|gcn|rgcn|gat",
      .fallback = "auto",
      .help = "GraphSAGE with mean or GCN; RGCN or graph attention also for several types; auto: "
              "sage, or chosen without --epochs" },
    { .name = "layers",
      .field = "options.num_layers",
      .kind = OPTION_COUNT,
      .offset = AT(layers),
      .metavar = "L",
      .fallback = "0",
      .max = TR_LAYERS_MAX,
      .help = "layers; 0: as many as --fanout has numbers" },
    { .name = "hidden",
      .kind = OPTION_COUNT,
      .offset = AT(hidden),
      .metavar = "H",
      .optional = true,
      .min = 1,
      .max = TR_MODEL_WIDTH_MAX,
      .help = "width of hidden layers; otherwise 128, or chosen without --epochs" },
    { .name = "residual",
      .kind = OPTION_FLAG,
      .offset = AT(residual),
      .help = "hidden layers after the first add their input to their result" },
    { .name = "norm",
      .kind = OPTION_CHOICE,
      .offset = AT(norm),
      .choices = "auto|none|layer|batch",
      .fallback = "auto",
      .help =
          "normalise hidden layers, by rows or by the columns of a batch; auto: none, or chosen "
          "without --epochs" },
    { .name = "fanout",
      .kind = OPTION_COUNTS,
      .offset = AT(fanout),
      .metavar = "N,...",
      .min = -1,
      .max = INT32_MAX,
      .help = "neighbours to draw for a node, a number for each layer, the input layer's first; "
              "-1: all; otherwise ...,5,10,25, or chosen without --epochs" },
    { .name = "etype-fanout",
      .field = "options.etype_fanout",
      .kind = OPTION_TEXT,
      .offset = AT(etype_fanout),
      .metavar = "REL=N,...;...",
      .help = "for rgcn and gat: fanouts of single edge types in place of --fanout; 0: none" },
    { .name = "bases",
      .kind = OPTION_COUNT,
      .offset = AT(bases),
      .metavar = "B",
      .fallback = "0",
      .max = 4096,
      .help = "for rgcn: matrices of a layer that its relations share; 0: each has its own" },
    { .name = "heads",
      .kind = OPTION_COUNT,
      .offset = AT(heads),
      .metavar = "H",
      .fallback = "0",
      .max = 256,
      .help = "for gat: heads of attention in each layer; 0: 8" },
    { .name = "batch-size",
      .kind = OPTION_COUNT,
      .offset = AT(batch_size),
      .metavar = "B",
      .fallback = "1024",
      .min = 1,
      .max = 1 << 24,
      .help = "seed nodes of a training step" },
    { .name = "epochs",
      .kind = OPTION_COUNT,
      .offset = AT(epochs),
      .metavar = "E",
      .optional = true,
      .max = 1000000,
      .help = "passes over the training nodes; otherwise chosen by the number of those nodes" },
    { .name = "seed",
      .kind = OPTION_COUNT,
      .offset = AT(seed),
      .metavar = "S",
      .fallback = "0",
      .help = "seed of all random choices" },
    { .name = "seeds",
      .kind = OPTION_TEXT,
      .offset = AT(seeds),
      .metavar = "0-9,...",
      .help =
          "train once for each of these seeds, in RUNDIR/seed-N, and print mean and deviation" },
    { .name = "sweep",
      .kind = OPTION_TEXTS,
      .offset = AT(sweep),
      .metavar = "OPTION=X,Y,...",
      .help = "train once for each value, in RUNDIR/OPTION=X, and print a table; within a value "
              "colons stand for commas: fanout=5:5,10:25" },
    { .name = "lr",
      .kind = OPTION_REAL,
      .offset = AT(lr),
      .metavar = "X",
      .fallback = "0.01",
      .max = 1e6,
      .help = "learning rate" },
    { .name = "optimiser",
      .kind = OPTION_CHOICE,
      .offset = AT(optimiser),
      .choices = "adam|sgd",
      .fallback = "adam",
      .help = "the optimiser" },
    { .name = "momentum",
      .kind = OPTION_REAL,
      .offset = AT(momentum),
      .metavar = "X",
      .fallback = "0",
      .max = 1,
      .help = "momentum of sgd" },
    { .name = "dropout",
      .kind = OPTION_REAL,
      .offset = AT(dropout),
      .metavar = "P",
      .optional = true,
      .max = 1,
      .help = "share of hidden values set to 0 in training; otherwise 0.5, or 0 of links" },
    { .name = "input-dropout",
      .kind = OPTION_REAL,
      .offset = AT(input_dropout),
      .metavar = "P",
      .optional = true,
      .max = 1,
      .help =
          "share of feature values set to 0 in training; otherwise 0, or chosen without --epochs" },
    { .name = "l2",
      .kind = OPTION_REAL,
      .offset = AT(l2),
      .metavar = "X",
      .optional = true,
      .max = 1e6,
      .help = "L2 penalty, added to the gradient; otherwise 0, or chosen without --epochs" },
    { .name = "weight-decay",
      .kind = OPTION_REAL,
      .offset = AT(weight_decay),
      .metavar = "X",
      .fallback = "0",
      .max = 1e6,
      .help = "decoupled weight decay" },
    { .name = "schedule",
      .kind = OPTION_CHOICE,
      .offset = AT(schedule),
      .choices = "constant|steps|cosine",
      .fallback = "constant",
      .help = "learning rate over epochs" },
    { .name = "warmup",
      .field = "options.warmup_epochs",
      .kind = OPTION_COUNT,
      .offset = AT(warmup),
      .metavar = "E",
      .fallback = "0",
      .max = 1000000,
      .help = "epochs in which the rate rises to --lr" },
    { .name = "step-epochs",
      .kind = OPTION_COUNT,
      .offset = AT(step_epochs),
      .metavar = "E",
      .fallback = "30",
      .min = 1,
      .max = 1000000,
      .help = "epochs between two steps of --schedule steps" },
    { .name = "step-gamma",
      .kind = OPTION_REAL,
      .offset = AT(step_gamma),
      .metavar = "X",
      .fallback = "0.1",
      .max = 1,
      .help = "factor that multiplies the rate at each such step" },
    { .name = "cosine-floor",
      .kind = OPTION_REAL,
      .offset = AT(cosine_floor),
      .metavar = "X",
      .fallback = "0",
      .max = 1,
      .help = "share of --lr left at the end of --schedule cosine" },
    { .name = "patience",
      .kind = OPTION_COUNT,
      .offset = AT(patience),
      .metavar = "N",
      .optional = true,
      .max = 1000000,
      .help = "stop after N evaluations without a better one; 0: never; otherwise never, or chosen "
              "without --epochs" },
    { .name = "loss",
      .kind = OPTION_CHOICE,
      .offset = AT(loss),
      .choices = "auto|softmax|sigmoid",
      .fallback = "auto",
      .help =
          "softmax: one class a node; sigmoid: several yes-or-no labels a node, and links; auto: "
          "softmax, or sigmoid of links" },
    { .name = "metric",
      .kind = OPTION_CHOICE,
      .offset = AT(metric),
      .choices = "auto|accuracy|macro-f1|roc-auc|loss|mrr",
      .fallback = "auto",
      .help = "the score that chooses the best epoch; auto: roc-auc for two classes and for links, "
              "else accuracy" },
    { .name = "balanced-weights",
      .kind = OPTION_FLAG,
      .offset = AT(balanced_weights),
      .help = "weigh classes inversely to their share of the training nodes" },
    { .name = "normalise",
      .kind = OPTION_FLAG,
      .offset = AT(normalise),
      .help = "divide each feature row by the sum of its magnitudes" },
    { .name = "no-normalise",
      .kind = OPTION_FLAG,
      .offset = AT(no_normalise),
      .help = "leave feature rows as they are, also where they are counts" },
    { .name = "standardise",
      .field = "options.standardise",
      .kind = OPTION_FLAG,
      .offset = AT(standardise),
      .help = "shift and scale each column of features to mean 0 and deviation 1" },
    { .name = "no-standardise",
      .field = "options.no_standardise",
      .kind = OPTION_FLAG,
      .offset = AT(no_standardise),
      .help = "leave columns of features as they are, whatever their numbers" },
    { .name = "with-replacement",
      .kind = OPTION_FLAG,
      .offset = AT(with_replacement),
      .help = "draw neighbours with replacement" },
    { .name = "sampler",
      .kind = OPTION_CHOICE,
      .offset = AT(sampler),
      .choices = "neighbors|labor|labor-poisson",
      .fallback = "neighbors",
      .help = "how neighbours are drawn: each alone, or by LABOR, so that nodes of a batch share "
              "them" },
    { .name = "draw-by",
      .field = "options.draw_by",
      .kind = OPTION_TEXT,
      .offset = AT(draw_by),
      .metavar = "NAME",
      .help = "edge feature in proportion to which edges are drawn; without it evenly" },
    { .name = "draw-mask",
      .field = "options.draw_mask",
      .kind = OPTION_TEXT,
      .offset = AT(draw_mask),
      .metavar = "NAME",
      .help = "edge feature that marks the edges to learn by; without it all are" },
    { .name = "drop-last",
      .kind = OPTION_FLAG,
      .offset = AT(drop_last),
      .help = "drop the last batch of an epoch when it is not full" },
    { .name = "eval",
      .field = "options.evaluation",
      .kind = OPTION_CHOICE,
      .offset = AT(eval),
      .choices = "exact|sampled|none",
      .fallback = "exact",
      .help = "evaluation with all neighbours, with sampled ones, or none" },
    { .name = "eval-every",
      .field = "options.evaluate_every",
      .kind = OPTION_COUNT,
      .offset = AT(eval_every),
      .metavar = "E",
      .optional = true,
      .min = 1,
      .max = 1000000,
      .help = "epochs between evaluations; otherwise 1, or chosen without --epochs" },
    { .name = "features",
      .kind = OPTION_TEXT,
      .offset = AT(features),
      .metavar = "NAME",
      .fallback = "feat",
      .help = "the node feature to learn from" },
    { .name = "edge-weight",
      .field = "options.edge_weight",
      .kind = OPTION_TEXT,
      .offset = AT(edge_weight),
      .metavar = "NAME",
      .help = "edge feature that weighs neighbours; without it they count alike" },
    { .name = "label-type",
      .field = "options.label_type",
      .kind = OPTION_TEXT,
      .offset = AT(label_type),
      .metavar = "TYPE",
      .help = "for rgcn and gat: the node type whose labels are learned; otherwise the only one "
              "with labels" },
    { .name = "labels",
      .kind = OPTION_TEXT,
      .offset = AT(labels),
      .metavar = "NAME",
      .help = "the node feature to predict; otherwise label" },
    { .name = "train-mask",
      .kind = OPTION_TEXT,
      .offset = AT(train_mask),
      .metavar = "NAME",
      .fallback = "train_mask",
      .help = "marks the nodes to train on" },
    { .name = "val-mask",
      .kind = OPTION_TEXT,
      .offset = AT(val_mask),
      .metavar = "NAME",
      .help = "marks the nodes that choose the best epoch; val_mask, where there is one" },
    { .name = "test-mask",
      .kind = OPTION_TEXT,
      .offset = AT(test_mask),
      .metavar = "NAME",
      .help = "marks the nodes of the final score; test_mask, where there is one" },
    { .name = "from",
      .kind = OPTION_TEXT,
      .offset = AT(from),
      .metavar = "RUN",
      .help = "begin with the weights of that run's model, which has the same shape" },
    { .name = "trainers",
      .kind = OPTION_COUNT,
      .offset = AT(trainers),
      .metavar = "T",
      .fallback = "1",
      .min = 1,
      .max = 1024,
      .help = "trainers that share each step; part of the experiment" },
    { .name = "deal",
      .kind = OPTION_TEXT,
      .offset = AT(deal),
      .metavar = "shuffle|affinity|FILE",
      .help = "which trainer gets which seed; affinity, where the graph was "
              "partitioned for as many trainers, else shuffle" },
    { .name = "checkpoint-every",
      .kind = OPTION_COUNT,
      .offset = AT(checkpoint_every),
      .metavar = "N",
      .fallback = "0",
      .help = "steps between checkpoints; 0: none" },
    { .name = "checkpoint-keep",
      .kind = OPTION_COUNT,
      .offset = AT(checkpoint_keep),
      .metavar = "K",
      .fallback = "2",
      .min = 1,
      .max = 1000000,
      .help = "checkpoints to keep" },
    { .name = "checkpoints",
      .kind = OPTION_TEXT,
      .offset = AT(checkpoints),
      .metavar = "DIR",
      .help = "folder of the checkpoints; otherwise RUNDIR/checkpoints" },
    { .name = "tensorboard",
      .kind = OPTION_TEXT,
      .offset = AT(tensorboard),
      .metavar = "DIR",
      .made = true,
      .help = "write losses and scores to this folder for TensorBoard too" },
    { .name = "step-limit",
      .kind = OPTION_COUNT,
      .offset = AT(step_limit),
      .metavar = "SECONDS",
      .optional = true,
      .max = 86400,
      .help = "how long a step may compute before its process ends as one that hangs; 0: for "
              "ever; otherwise as the cluster file says, or 600" },
    { .name = "disk-wait",
      .field = "options.disk_wait_ns",
      .kind = OPTION_COUNT,
      .offset = AT(disk_wait),
      .metavar = "SECONDS",
      .optional = true,
      .max = 86400,
      .help = "how long to wait for room on a full disk at the end, or before the run goes back; "
              "otherwise as the cluster file says, or 600" },
    { .name = "resume",
      .kind = OPTION_FLAG,
      .offset = AT(resume),
      .help = "go on from the newest checkpoint, or begin where there is none" },
    { .name = "reproducible",
      .kind = OPTION_FLAG,
      .offset = AT(reproducible),
      .help = "refuse to resume or to train on CPUs whose kernels may give other last digits" },
    PROCESS_OPTION_ROWS(struct train_values, process),
    COMMAND_LOG_OPTION_ROWS(struct train_values, log, "the training says"),
    { .name = "servers",
      .kind = OPTION_COUNT,
      .offset = AT(servers),
      .metavar = "N",
      .fallback = "0",
      .max = 65536,
      .help = "server actors; 0: one per partition" },
    { .name = "samplers",
      .kind = OPTION_COUNT,
      .offset = AT(samplers),
      .metavar = "N",
      .fallback = "0",
      .max = 1024,
      .help = "sampler actors; 0: one per loop" },
    OPTION_ROW_LOOPS(struct train_values),
    OPTION_ROW_THREADS(struct train_values),
    { .name = "memory",
      .field = "memory_bytes_max",
      .kind = OPTION_BYTES,
      .offset = AT(memory),
      .metavar = "BYTES",
      .fallback = "0",
      .help = "bound of all batches in flight; 0: 4GiB" },
    { .name = "messages",
      .kind = OPTION_FLAG,
      .offset = AT(messages),
      .help = "ask servers for local data too, instead of reading in place" },
    { .name = "codec",
      .kind = OPTION_FLAG,
      .offset = AT(codec),
      .help = "encode and verify each message as a link would" },
    OPTION_ROW_MAP(struct train_values),
    OPTION_ROW_VERIFY(struct train_values),
    { .name = "replace",
      .kind = OPTION_FLAG,
      .offset = AT(replace),
      .help = "replace the run that RUNDIR holds" },
    { .name = "sparkline",
      .kind = OPTION_FLAG,
      .offset = AT(sparkline),
      .help = "end with a line of blocks for loss and score, also where there is no terminal" },
    OPTION_ROW_JSON(struct train_values),
    OPTION_ROW_QUIET(struct train_values),
    OPTION_ROW_END,
};

static int choose_fanout(const struct train_values *values, struct tr_train_options *options,
                         struct tr_error *error)
{
    uint32_t layers = values->layers == 0 ? values->fanout.count : (uint32_t)values->layers;
    /* The library knows what each layer draws where nothing was said of it. */
    if (values->fanout.count == 0) {
        options->num_layers = layers == 0 ? TR_TRAIN_COUNT_CHOSEN : layers;
        return 0;
    }
    if (layers > TR_LAYERS_MAX || values->fanout.count != layers)
        return tr_error_set(error, TR_EINVAL,
                            "--fanout has %u numbers for %u layers; give one for each layer, at "
                            "most %d, the input layer's first",
                            values->fanout.count, layers, TR_LAYERS_MAX);
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t fanout = values->fanout.values[i];
        /* For one release: scripts that mean all by it would silently train on no neighbours. */
        if (fanout == 0)
            return tr_error_set(
                error, TR_EINVAL,
                "--fanout: number %u is 0, which meant all neighbours before and means "
                "none in the C API; write -1 for all",
                i + 1);
        options->fanout[i] = fanout == OPTION_ALL ? TR_FANOUT_ALL : (int32_t)fanout;
    }
    options->num_layers = layers;
    return 0;
}

/* The names behind numbers of choices, in the order of the options' table. */
static const char *const NEGATIVE_ENDS[] = { NULL, "destinations", "sources", "either", "both" };
static const char *const NEGATIVES_BY[] = { NULL, "uniform", "degree" };
static const char *const TASKS[] = { "node", "link" };
static const char *const MODELS[] = { NULL, "sage", "gcn", "rgcn", "gat" };
static const char *const NORMS[] = { NULL, "none", "layer", "batch" };
static const char *const OPTIMISERS[] = { "adam", "sgd" };
static const char *const SCHEDULES[] = { "constant", "steps", "cosine" };
static const char *const LOSSES[] = { NULL, "softmax", "sigmoid" };
static const char *const METRICS[] = { NULL, "accuracy", "macro-f1", "roc-auc", "loss", "mrr" };
static const char *const EVALUATIONS[] = { "exact", "sampled", "none" };
static const char *const SAMPLERS[] = { "neighbors", "labor", "labor-poisson" };

static uint32_t choose_count(uint64_t count)
{
    return count == OPTION_NOT_GIVEN ? TR_TRAIN_COUNT_CHOSEN : (uint32_t)count;
}

static float choose_real(double number)
{
    return number < 0 ? TR_TRAIN_REAL_CHOSEN : (float)number;
}

static void choose_model(const struct train_values *values, struct tr_train_options *options)
{
    options->task = TASKS[values->task];
    options->negatives = (uint32_t)values->negatives;
    options->negative_ends = NEGATIVE_ENDS[values->negative_ends];
    options->negatives_by = NEGATIVES_BY[values->negatives_by];
    options->negatives_no_edges = values->negatives_no_edges;
    options->edge_type = values->edge_type;
    options->reverse_edge_type = values->reverse_edge_type;
    options->model = MODELS[values->model];
    options->hidden = choose_count(values->hidden);
    options->etype_fanout = values->etype_fanout;
    options->bases = (uint32_t)values->bases;
    options->heads = (uint32_t)values->heads;
    options->label_type = values->label_type;
    options->residual = values->residual;
    options->norm = NORMS[values->norm];
    options->batch_size = (uint32_t)values->batch_size;
    options->epochs = values->epochs == OPTION_NOT_GIVEN ? TR_TRAIN_EPOCHS_CHOSEN
                                                         : (uint32_t)values->epochs;
    options->seed = values->seed;
    options->lr = (float)values->lr;
    options->optimiser = OPTIMISERS[values->optimiser];
    options->momentum = (float)values->momentum;
    options->dropout = choose_real(values->dropout);
    options->input_dropout = choose_real(values->input_dropout);
    options->l2 = choose_real(values->l2);
    options->weight_decay = (float)values->weight_decay;
    options->schedule = SCHEDULES[values->schedule];
    options->warmup_epochs = (uint32_t)values->warmup;
    options->step_epochs = (uint32_t)values->step_epochs;
    options->step_gamma = (float)values->step_gamma;
    options->cosine_floor = (float)values->cosine_floor;
    options->patience = choose_count(values->patience);
    options->loss = LOSSES[values->loss];
    options->metric = METRICS[values->metric];
    options->balanced_weights = values->balanced_weights;
    options->normalise = values->normalise;
    options->no_normalise = values->no_normalise;
    options->standardise = values->standardise;
    options->no_standardise = values->no_standardise;
    options->with_replacement = values->with_replacement;
    options->sampler = SAMPLERS[values->sampler];
    options->draw_by = values->draw_by;
    options->draw_mask = values->draw_mask;
    options->drop_last = values->drop_last;
    options->evaluation = EVALUATIONS[values->eval];
    options->evaluate_every = choose_count(values->eval_every);
    options->from = values->from;
    options->features = values->features;
    options->edge_weight = values->edge_weight;
    options->labels = values->labels;
    options->train_mask = values->train_mask;
    options->val_mask = values->val_mask;
    options->test_mask = values->test_mask;
}

static int64_t choose_limit(uint64_t seconds)
{
    return seconds == OPTION_NOT_GIVEN ? TR_TRAIN_LIMIT_UNSAID
                                       : (int64_t)seconds * INT64_C(1000000000);
}

static void choose_layout(const struct train_values *values, struct tr_train_options *options)
{
    options->trainers = (uint32_t)values->trainers;
    options->deal = values->deal;
    options->checkpoint_every = values->checkpoint_every;
    options->checkpoint_keep = (uint32_t)values->checkpoint_keep;
    options->checkpoints = values->checkpoints;
    options->tensorboard = values->tensorboard;
    options->step_limit_ns = choose_limit(values->step_limit);
    options->disk_wait_ns = choose_limit(values->disk_wait);
    options->resume = values->resume;
    options->reproducible = values->reproducible;
    options->servers = (uint32_t)values->servers;
    options->samplers = (uint32_t)values->samplers;
    options->loops = (uint32_t)values->loops;
    options->threads = (uint32_t)values->threads;
    options->memory_bytes_max = values->memory;
    options->messages = values->messages;
    options->codec = values->codec;
    options->map_files = values->map;
    options->verify_files = values->verify;
}

int train_configure(const struct train_values *values, struct tr_train_options *options,
                    struct tr_error *error)
{
    tr_train_options_init(options);
    options->run = values->run;
    options->replace = values->replace;
    options->metrics = values->process.metrics;
    options->confirm = true;
    options->checkpoint_at_cancel = true;
    choose_model(values, options);
    choose_layout(values, options);
    int rv = choose_fanout(values, options, error);
    if (rv == 0 && values->resume && values->replace)
        rv = tr_error_set(error, TR_EINVAL,
                          "--resume goes on with the run that --replace would "
                          "remove; give one of them");
    bool chosen = options->num_layers == TR_TRAIN_COUNT_CHOSEN;
    if (rv == 0 && values->residual && (chosen || options->num_layers < RESIDUAL_LAYERS))
        rv = tr_error_set(error, TR_EINVAL,
                          "--residual changes hidden layers after the first, so it needs %d layers "
                          "at least; give --layers %d",
                          RESIDUAL_LAYERS, RESIDUAL_LAYERS);
    if (rv == 0 && values->normalise && values->no_normalise)
        rv = tr_error_set(error, TR_EINVAL,
                          "--normalise and --no-normalise are opposites; give one of them");
    if (rv == 0 && values->standardise && values->no_standardise)
        rv = tr_error_set(error, TR_EINVAL,
                          "--standardise and --no-standardise are opposites; give one of them");
    return rv;
}
