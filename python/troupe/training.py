# SPDX-License-Identifier: Apache-2.0
"""The built-in models: training, predicting every node, and a run's model as arrays.

These are `troupe train` and `troupe infer`: the same options give the same bytes. The library that
computes brings a BLAS; it is loaded by the import of this module.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core, display
from ._libmodel import ffi
from ._libmodel import lib as model
from .arrays import DTYPES, Tensors, check_tensors, tensor_of
from .binding import (
    address,
    call,
    encoded,
    error_struct,
    fields_of,
    filled,
    function_address,
    lib,
    made,
    text,
)
from .book import PartitionBook
from .task import OnProgress, Report, report_of, start, wait

AnyPath = str | os.PathLike[str]
SPLITS = ("train", "validation", "test")


def _model_struct(struct: str, **fields: Any) -> Any:
    return made(struct, _library=model, _ffi=ffi, **fields)


@dataclass(frozen=True)
class Event:
    """What a training says beside its progress.

    Attributes
    ----------
    kind : "warning", "ready", "epoch", "checkpoint", "trained", "head", "advice", ...
    number : of the epoch, from 0, or of steps.
    text : for people, such as "epoch 3: loss 0.7, validation accuracy 0.8".
    """

    kind: str
    number: int
    text: str


def _kinds() -> dict[int, str]:
    names = (n for n in dir(model) if n.startswith("TR_MODEL_") and not n.endswith("_MAX"))
    skipped = ("TR_MODEL_STACK_SIGNAL",)
    return {
        int(getattr(model, n)): n[len("TR_MODEL_") :].lower() for n in names if n not in skipped
    }


def _events(task: Any, on_event: Callable[[Event], object] | None) -> Callable[[], None]:
    """Takes the events that wait."""
    kinds = _kinds()

    def take() -> None:
        while True:
            event = _model_struct("tr_model_event")
            if model.tr_model_next_event(task, 0, event, ffi.NULL) != 0:
                return
            if on_event is not None:
                said = Event(kinds.get(event.kind, str(event.kind)), event.number, text(event.text))
                on_event(said)

    return take


def _scores(struct: Any) -> Report | None:
    scores = report_of(struct)
    return scores if scores.labelled else None


class Run:
    """What came of a training.

    Attributes
    ----------
    path : str
        The run's folder.
    epochs : list of Report
        An entry an epoch: ``train_loss``, ``seconds``, ``evaluated``, ``validation`` (scores).
    result : Report
        ``epochs``, ``best_epoch``, ``stopped_early``, ``train_loss``.
    validation, test : Report or None
        Scores (``accuracy``, ``macro_f1``, ``roc_auc``, ``loss``, and of links ``mrr``) of the best
        model.
    """

    def __init__(self, path: str, task: Any) -> None:
        self.path = path
        self.epochs = _epochs_of(task)
        result = _model_struct("tr_train_result")
        validation, test = _model_struct("tr_scores"), _model_struct("tr_scores")
        call(model.tr_train_get_result, task, result, validation, test)
        self.result = report_of(result)
        self.validation = _scores(validation)
        self.test = _scores(test) if result.tested else None

    def __repr__(self) -> str:
        return f"Run({self.path!r}, {len(self.epochs)} epochs, test {self.test})"

    def _repr_html_(self) -> str:
        rows = [
            (
                number,
                f"{epoch.train_loss:.4f}",
                "" if epoch.validation is None else f"{epoch.validation.accuracy:.4f}",
                f"{epoch.seconds:.2f}",
            )
            for number, epoch in enumerate(self.epochs, 1)
        ]
        tested = "not tested" if self.test is None else f"test accuracy {self.test.accuracy:.4f}"
        head = ("epoch", "loss", "validation accuracy", "seconds")
        return display.Display(f"Run {self.path!r}: {tested}", head, rows).html()


def _epochs_of(task: Any) -> list[Report]:
    epochs: list[Report] = []
    while True:
        epoch, scores = _model_struct("tr_train_epoch"), _model_struct("tr_scores")
        if model.tr_train_get_epoch(task, len(epochs), epoch, scores, ffi.NULL) != 0:
            return epochs
        found = report_of(epoch)
        found.validation = _scores(scores) if epoch.evaluated else None
        epochs.append(found)


def train(
    graph: AnyPath,
    run: AnyPath,
    *,
    fanout: Sequence[int] | None = None,
    from_run: AnyPath | None = None,
    progress: OnProgress = None,
    on_event: Callable[[Event], object] | None = None,
    **options: Any,
) -> Run:
    """Trains a built-in model; as ``troupe train``.

    Parameters
    ----------
    graph : ``DIR/NAME.json``.
    run : the run's folder.
    fanout : a number a layer, the input layer's first; also says how many layers there are.
    from_run : the folder of a run whose model has the same shape: its weights are the first ones.
    progress : called about ten times a second; True: a bar.
    on_event : called with each `Event`, such as the end of an epoch.
    **options : the fields of ``struct tr_train_options`` (``troupe/model.h``), whose names and
        defaults are those of troupe-train(1): ``model="gcn"``, ``hidden=``, ``batch_size=``,
        ``epochs=``, ``lr=``, ``dropout=``, ``seed=``, ``replace=True``, ``resume=True``, ...;
        ``sampler="labor"``, ``draw_by=`` and ``draw_mask=`` (features of edges) say how it draws;
        ``task="link"`` learns which nodes an edge of ``edge_type=`` joins, with ``negatives=``
        pairs for each; ``tensorboard=`` is a folder for files that TensorBoard reads.

    Ctrl-C, or an exception of a callback, cancels the training.
    """
    _check_options("tr_train_options", options)
    given = _model_struct("tr_train_options", graph=graph, run=run, **options)
    filled(given, **{"from": from_run})
    if fanout is not None:
        given.num_layers = len(fanout)
        for layer, number in enumerate(fanout):
            given.fanout[layer] = number
    task = start(model.tr_train_start, given)
    wait(task, progress, _events(task, on_event))
    return Run(os.fspath(run), task)


def _check_options(struct: str, options: dict[str, Any]) -> None:
    names = {name for name, _ in ffi.typeof(f"struct {struct}").fields}
    for name in options:
        if name not in names or name in ("size", "reserved", "graph", "run"):
            listed = [encoded(n) for n in sorted(names)]
            near = lib.tr_text_nearest(
                ffi.new("const char *[]", listed), len(listed), encoded(name), len(name)
            )
            hint = f'; did you mean "{text(near)}"?' if near != ffi.NULL else ""
            raise TypeError(f"no option {name!r}{hint}")


class Predictions:
    """The outputs of every node, in memory of the library.

    ``outputs`` and ``embeddings`` are float32 arrays of shape ``(num_nodes, classes)`` and
    ``(num_nodes, hidden)``, a row a node by *original* ID; the first is before softmax or sigmoid.
    Of links between nodes of two types they are dicts of such arrays by node type.
    """

    def __init__(self, task: Any, tensors: Tensors, graph: str, run: str, sampled: bool) -> None:
        self._task = task
        self.graph, self.run, self.sampled = graph, run, sampled
        # Arrays have a reference to the handle, and it closes the task, in place of the pointer.
        self._handle = _core.Handle(address(task), function_address("tr_task_close"))
        ffi.gc(task, None)
        self._tensors = tensors

    def _types(self) -> list[str]:
        """The node types whose nodes have outputs: one, or both ends' of links of two types."""
        names: list[str] = []
        name, error = ffi.new("char const **"), error_struct()
        while model.tr_infer_node_type(self._task, len(names), name, error) == 0:
            names.append(os.fsdecode(ffi.string(name[0])))
        return names

    def _by_type(self, function: Any) -> Any:
        types = self._types()
        if len(types) < 2:
            return self._rows(function, 0)
        return {name: self._rows(function, index) for index, name in enumerate(types)}

    def _rows(self, function: Any, index: int) -> Any:
        rows = made("tr_rows")
        call(function, self._task, index, rows)
        shape = (int(rows.num_rows), int(rows.width))
        view = _core.View(self._handle, address(rows.rows), DTYPES[rows.dtype], shape)
        return tensor_of(view, self._tensors)

    @property
    def outputs(self) -> Any:
        """Before softmax or sigmoid."""
        return self._by_type(model.tr_infer_get_outputs_of)

    @property
    def embeddings(self) -> Any:
        """The rows of the last hidden layer, where they were asked for."""
        return self._by_type(model.tr_infer_get_embeddings_of)

    def scores(self, split: str = "test") -> Report | None:
        """The nodes of one of the run's masks: "train", "validation" or "test"; None: no label."""
        found = _model_struct("tr_scores")
        call(model.tr_infer_get_scores, self._task, _split(split), found)
        return _scores(found)

    def confusion(self, split: str = "test") -> np.ndarray[Any, np.dtype[np.uint64]]:
        """Counts ``[a, b]`` of labelled nodes of class a that were taken for class b."""
        classes = int(self._rows(model.tr_infer_get_outputs_of, 0).shape[1])
        counts = np.zeros((classes, classes), dtype=np.uint64)
        into = ffi.cast("uint64_t *", counts.ctypes.data)
        call(model.tr_infer_get_confusion, self._task, _split(split), into, counts.size)
        return counts

    def by_class(self, split: str = "test") -> list[Report]:
        """Scores of each class among the labelled nodes of a mask; as ``troupe infer --by-class``.

        Returns
        -------
        list of Report
            One a class: ``class_id``, ``name`` (None where the graph has no names), ``labelled``,
            ``predicted``, ``precision``, ``recall``, ``f1`` (0 of nothing) and ``taken_for``: a
            dict of how many of its nodes were taken for which class.
        """
        counts = self.confusion(split)
        names = _class_names(self.graph, self.run, len(counts))
        return [_class_scores(counts, c, names.get(c)) for c in range(len(counts))]

    def write_by_class(self, path: AnyPath) -> None:
        """Writes the scores of each class of the test nodes, for `troupe.report`.

        A file by-class.json in the folder of the run is found by it.
        """
        rows = []
        for scores in self.by_class():
            row: dict[str, Any] = {"class": scores.class_id}
            if scores.name is not None:
                row["name"] = scores.name
            row.update((k, v) for k, v in vars(scores).items() if k not in ("class_id", "name"))
            row["taken_for"] = [list(pair) for pair in scores.taken_for.items()]
            rows.append(row)
        inference = "sampled" if self.sampled else "exact"
        # JSON has no bytes that are no text.
        run = os.fsencode(self.run).decode(errors="replace")
        document = {"run": run, "inference": inference, "classes": rows}
        data = json.dumps(document).encode()
        call(lib.tr_file_write, encoded(path), ffi.from_buffer(data), len(data))

    def write(self, path: AnyPath) -> None:
        """Writes outputs as .npy, or predictions as .csv or .jsonl.

        Outputs of two node types are two files, ``NAME.TYPE.npy``.
        """
        call(model.tr_infer_write, self._task, encoded(path))

    def write_embeddings(self, path: AnyPath) -> None:
        """Writes the rows of the last hidden layer, where they were asked for, as .npy."""
        call(model.tr_infer_write_embeddings, self._task, encoded(path))


def _class_names(graph: str, run: str, classes: int) -> dict[int, str]:
    """The names of classes, where the graph has them."""
    book = PartitionBook(graph).pointer()
    labels = encoded(SavedModel(run).info.labels)
    found = ffi.new("uint32_t *")
    error = error_struct()
    if lib.tr_book_find_names(book, lib.TR_NAMES_VALUES, 0, labels, found, error) != 0:
        return {}
    info = made("tr_names_info")
    call(lib.tr_book_names, book, found[0], info)
    count = min(int(info.count), classes)
    offsets = ffi.new("uint64_t[]", count + 1)
    call(lib.tr_book_read_names, book, found[0], 0, count, offsets, ffi.NULL, 0)
    lines = ffi.new("char[]", offsets[count] + 1)
    call(lib.tr_book_read_names, book, found[0], 0, count, offsets, lines, offsets[count])
    read = bytes(ffi.buffer(lines, offsets[count]))
    # Each ends with its line end.
    return {c: os.fsdecode(read[offsets[c] : offsets[c + 1] - 1]) for c in range(count)}


def _class_scores(counts: np.ndarray[Any, Any], number: int, name: str | None) -> Report:
    """The figures of a class, from how often nodes of each were taken for which."""
    row = counts[number]
    hits, labelled, predicted = int(row[number]), int(row.sum()), int(counts[:, number].sum())
    return Report(
        class_id=number,
        name=name,
        labelled=labelled,
        predicted=predicted,
        precision=hits / predicted if predicted else 0.0,
        recall=hits / labelled if labelled else 0.0,
        f1=2 * hits / (labelled + predicted) if labelled + predicted else 0.0,
        taken_for={int(other): int(row[other]) for other in np.flatnonzero(row)},
    )


def _split(name: str) -> int:
    if name not in SPLITS:
        raise ValueError(f"split={name!r}: give one of {', '.join(map(repr, SPLITS))}")
    return SPLITS.index(name)


def infer(
    graph: AnyPath,
    run: AnyPath,
    *,
    sampled: bool = False,
    epoch: int = 0,
    embeddings: bool = False,
    threads: int = 0,
    tensors: str = "numpy",
    progress: OnProgress = None,
    on_event: Callable[[Event], object] | None = None,
) -> Predictions:
    """Computes the outputs of every node with a run's model; as ``troupe infer``.

    Parameters
    ----------
    graph, run : ``DIR/NAME.json`` and the folder of a run. One that is not complete has its best
        model so far, of which a ``UserWarning`` tells, or an `Event` where there is ``on_event``.
    sampled : with the run's fanouts, instead of exactly with all neighbours, as the scores of
        training are (``troupe infer --sampled``): less memory on large graphs, other scores.
    epoch : sampled: keys the draws.
    embeddings : keep the rows of the last hidden layer too.
    """
    options = _model_struct(
        "tr_infer_options",
        graph=graph,
        run=run,
        sampled=sampled,
        epoch=epoch,
        embeddings=embeddings,
        threads=threads,
    )
    task = start(model.tr_infer_start, options)
    said: list[str] = []

    def take(event: Event) -> None:
        if event.kind == "warning":
            said.append(event.text)
        if on_event is not None:
            on_event(event)

    wait(task, progress, _events(task, take))
    for warning in said if on_event is None else ():
        warnings.warn(warning, stacklevel=2)
    return Predictions(task, check_tensors(tensors), os.fspath(graph), os.fspath(run), sampled)


class SavedModel:
    """A run's model as it lies on the disk: a mapping of names to arrays, and ``info``."""

    def __init__(self, run: AnyPath, tensors: str = "numpy") -> None:
        box = ffi.new("struct tr_model **")
        call(model.tr_model_open, encoded(run), box)
        self._handle = _core.Handle(
            address(box[0]), int(ffi.cast("uintptr_t", ffi.addressof(model, "tr_model_close")))
        )
        self._pointer = box[0]
        self._tensors = check_tensors(tensors)
        info = _model_struct("tr_model_info")
        call(model.tr_model_info, self._pointer, info)
        self.info = Report(**dict(fields_of(info)))

    def __len__(self) -> int:
        return int(self.info.num_tensors)

    def items(self) -> list[tuple[str, Any]]:
        """Names and arrays, copies, in the order of the file."""
        found: list[tuple[str, Any]] = []
        for index in range(len(self)):
            tensor = _model_struct("tr_tensor")
            call(model.tr_model_tensor, self._pointer, index, tensor)
            shape = tuple(tensor.shape[d] for d in range(tensor.ndim))
            name = DTYPES[tensor.dtype]
            data = np.frombuffer(ffi.buffer(tensor.data, tensor.bytes), dtype=np.uint8).copy()
            rows = data.view(np.uint16 if name == "bfloat16" else name).reshape(shape)
            if self._tensors == "torch":
                import torch

                found.append((text(tensor.name), torch.from_numpy(rows)))
            else:
                found.append((text(tensor.name), rows))
        return found

    def state_dict(self) -> dict[str, Any]:
        """The parameters by name, such as "layers.0.weight"."""
        return dict(self.items())

    def relations(self) -> dict[str, int]:
        """Of rgcn and gat: the edge types along which layers gather rows, as words
        "source:edge:destination", and how many parameters each has for itself."""
        name, parameters = ffi.new("const char **"), ffi.new("uint64_t *")
        found: dict[str, int] = {}
        for index in range(int(self.info.num_relations)):
            call(model.tr_model_relation, self._pointer, index, name, parameters)
            found[text(name[0])] = int(parameters[0])
        return found
