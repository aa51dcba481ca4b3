# SPDX-License-Identifier: Apache-2.0
"""Raw graphs: made of files, of numbers, of arrays; with masks and features added.

A raw graph is a folder in DGL's chunked format (``metadata.json`` and arrays). Every function makes
it whole or not at all, and refuses a folder that is there unless ``replace=True``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .binding import filled, lib, made
from .task import OnProgress, Report, run

Path = str | os.PathLike[str]


def _number(prefix: str, word: str, what: str) -> int:
    """The library's number of a word among those that begin with `prefix`."""
    found = getattr(lib, prefix + word.upper().replace("-", "_"), None)
    if found is None:
        known = [
            n[len(prefix) :].lower().replace("_", "-") for n in dir(lib) if n.startswith(prefix)
        ]
        known = [name for name in known if not name.endswith("-max")]
        raise ValueError(f"{what}={word!r}: give one of {', '.join(map(repr, sorted(known)))}")
    return int(found)


def generate(
    out: Path,
    kind: str = "skew",
    *,
    nodes: int,
    edges: int,
    features: int | None = None,
    classes: int | None = None,
    seed: int = 0,
    signal: float | None = None,
    inside: float | None = None,
    quadrants: Sequence[float] | None = None,
    replace: bool = False,
    progress: OnProgress = None,
) -> None:
    """Writes a synthetic graph with features, labels and masks; as ``troupe generate``.

    Parameters
    ----------
    out : the folder to make.
    kind : "skew" (degrees as skewed as a shop's co-purchases), "rmat" or "sbm" (labels that the
        edges show).
    nodes, edges : how many.
    features, classes : numbers a node, and classes; 0: none.
    signal : how far classes are apart in the features.
    inside : "sbm": the share of edges inside classes.
    quadrants : "rmat": four probabilities.
    """
    options = made(
        "tr_generate_options",
        out=out,
        kind=_number("TR_GENERATE_", kind, "kind"),
        num_nodes=nodes,
        num_edges=edges,
        num_features=features,
        num_classes=classes,
        seed=seed,
        signal=signal,
        inside=inside,
        replace=replace,
    )
    for i, share in enumerate(quadrants or ()):
        options.quadrants[i] = share
    run(lib.tr_generate_start, options, progress)


def import_edges(
    path: Path,
    out: Path,
    *,
    undirected: bool = False,
    delimiter: str | None = None,
    num_nodes: int = 0,
    source: str | None = None,
    target: str | None = None,
    first_id: int = 0,
    loops: str = "keep",
    duplicates: str = "keep",
    node_features: Path | None = None,
    feature_base: int | None = None,
    rows: str = "smaller",
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Makes a raw graph of an edge list, a Matrix Market or METIS file; as ``troupe import edges``.

    Parameters
    ----------
    path, out : the file, and the folder to make.
    undirected : each line also stands for its reverse.
    delimiter : between columns; None: blanks, tabs, commas or semicolons.
    num_nodes : 0: the largest ID and 1.
    source, target : columns, by name or number from 1.
    first_id : the ID of the first node.
    loops : "keep", "drop" or "error".
    duplicates : "keep", "count", "merge" or "error".
    node_features : a file of features of the nodes, in the order of their IDs: text in SVMlight's
        format, or what ``scipy.sparse.save_npz`` wrote; the report then has `node_features`.
    feature_base : where that text's indices count from, 0 or 1; None: 0 where one of them is 0.
    rows : how these features are written: "smaller", "dense" or "sparse".
    """
    options = made(
        "tr_import_edges_options",
        path=path,
        out=out,
        replace=replace,
        undirected=undirected,
        delimiter=_delimiter(delimiter),
        num_nodes=num_nodes,
        source=source,
        target=target,
        first_id=first_id,
        loops=_number("TR_LOOPS_", loops, "loops"),
        duplicates=_number("TR_DUPLICATES_", duplicates, "duplicates"),
        node_features=node_features,
        feature_base=_feature_base(feature_base),
        rows=_number("TR_ROWS_", rows, "rows"),
    )
    result = (lib.tr_import_edges_result, "tr_import_edges_report")
    more = _features_report(lib.tr_import_edges_features, node_features)
    return run(lib.tr_import_edges_start, options, progress, result, more)


def _feature_base(base: int | None) -> int:
    if base is None:
        return int(lib.TR_FEATURE_BASE_FIND)
    if base not in (0, 1):
        raise ValueError(f"feature_base={base!r}: give 0, 1 or None")
    return int(lib.TR_FEATURE_BASE_1 if base == 1 else lib.TR_FEATURE_BASE_0)


def _features_report(function: Any, path: Path | None) -> dict[str, tuple[Any, str]]:
    """What of a report a file of features adds."""
    return {} if path is None else {"node_features": (function, "tr_import_features_report")}


def _delimiter(delimiter: str | None) -> bytes | None:
    return None if delimiter is None else delimiter.encode()


def _words(words: Sequence[str] | None) -> str | None:
    """A list with commas, which no word may hold."""
    if words is None or isinstance(words, str):
        return words
    if any("," in word for word in words):
        raise ValueError(f"no_value={list(words)!r}: a word holds a comma")
    return ",".join(words)


def import_table(
    edges: Path,
    out: Path,
    nodes: Path | None = None,
    *,
    undirected: bool = False,
    delimiter: str | None = None,
    header: str = "find",
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    time: str | None = None,
    id: str | None = None,
    features: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    labels: str | Sequence[str] | None = None,
    label_separator: str | None = None,
    split: str | None = None,
    loops: str = "keep",
    duplicates: str = "keep",
    missing: str = "error",
    no_value: Sequence[str] | None = None,
    unknown: str = "error",
    source_prefix: str | None = None,
    target_prefix: str | None = None,
    graph: str | None = None,
    node_features: Path | None = None,
    feature_base: int | None = None,
    rows: str = "smaller",
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Makes a raw graph of tables whose IDs may be any texts; as ``troupe import table``.

    Parameters
    ----------
    edges, nodes, out : CSV, TSV or JSON lines, packed or not; and the folder to make.
    header : "find", "yes" or "no".
    source, target, weight, time, id, labels, split : columns, by name or number from 1.
    features : columns; None: all others; empty: none.
    categories : columns whose numbers stand for kinds: each value is a feature, beside `features`.
    labels : of several columns, each has 0 or 1.
    label_separator : between several labels of a node in their column; None: a node has one.
    missing : a node without a value: "error", "mean" or "zero".
    no_value : words that stand for no value in the nodes table, beside those that programs write
        (NA, NaN, null, None, ``?`` ...); empty: none does, those included; None: those alone.
    unknown : a node that only edges have: "error" or "add".
    source_prefix, target_prefix : texts before the IDs of each end, so that one number in both
        columns is two nodes. The IDs of `nodes` stay as they are: they have to hold the texts.
    graph : the one graph to read, where a column ``graph_id`` says of which each row is.
    node_features, feature_base, rows : as of `import_edges`, in the order of the nodes table, in
        place of features of columns.
    """
    options = made(
        "tr_import_table_options",
        edges=edges,
        nodes=nodes,
        out=out,
        replace=replace,
        undirected=undirected,
        delimiter=_delimiter(delimiter),
        header=_number("TR_TABLE_HEADER_", header, "header"),
        source=source,
        target=target,
        weight=weight,
        time=time,
        id=id,
        features=None if features is None else ",".join(features),
        categories=None if categories is None else ",".join(categories),
        labels=labels if labels is None or isinstance(labels, str) else ",".join(labels),
        label_separator=_delimiter(label_separator),
        split=split,
        loops=_number("TR_LOOPS_", loops, "loops"),
        duplicates=_number("TR_DUPLICATES_", duplicates, "duplicates"),
        missing=_number("TR_TABLE_MISSING_", missing, "missing"),
        no_value=_words(no_value),
        unknown=_number("TR_TABLE_UNKNOWN_", unknown, "unknown"),
        source_prefix=source_prefix,
        target_prefix=target_prefix,
        graph=graph,
        node_features=node_features,
        feature_base=_feature_base(feature_base),
        rows=_number("TR_ROWS_", rows, "rows"),
    )
    result = (lib.tr_import_table_result, "tr_import_table_report")
    more = _features_report(lib.tr_import_table_features, node_features)
    return run(lib.tr_import_table_start, options, progress, result, more)


def import_npz(
    path: Path,
    out: Path,
    *,
    undirected: bool = False,
    split: int = 0,
    loops: str = "keep",
    duplicates: str = "keep",
    rows: str = "smaller",
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Makes a raw graph of a published ``.npz`` archive; as ``troupe import npz``.

    loops, duplicates, rows : as of `import_edges`.
    """
    options = made(
        "tr_import_npz_options",
        path=path,
        out=out,
        replace=replace,
        undirected=undirected,
        split=split,
        loops=_number("TR_LOOPS_", loops, "loops"),
        duplicates=_number("TR_DUPLICATES_", duplicates, "duplicates"),
        rows=_number("TR_ROWS_", rows, "rows"),
    )
    result = (lib.tr_import_npz_result, "tr_import_npz_report")
    return run(lib.tr_import_npz_start, options, progress, result)


def import_ogb(
    path: Path,
    out: Path,
    *,
    split: str | None = None,
    undirected: bool = False,
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Makes a raw graph of a folder of the Open Graph Benchmark; as ``troupe import ogb``."""
    options = made(
        "tr_import_ogb_options",
        path=path,
        out=out,
        split=split,
        replace=replace,
        undirected=undirected,
    )
    result = (lib.tr_import_ogb_result, "tr_import_ogb_report")
    return run(lib.tr_import_ogb_start, options, progress, result)


def import_debian(
    out: Path,
    *,
    source: Path | None = None,
    types: bool = False,
    sources: Path | None = None,
    replace: bool = False,
    progress: OnProgress = None,
) -> None:
    """Makes a raw graph of a Debian archive's packages; as ``troupe import debian``.

    source : what ``apt-cache dumpavail`` printed; None: it is run here.
    types : packages, maintainers, sections, tags and sources are nodes of different types.
    sources : with `types`, the archive's index Sources, unpacked: what sources need to be built.
    """
    options = made(
        "tr_import_debian_options", out=out, types=types, sources=sources, replace=replace
    )
    if source is not None:
        filled(options, **{"from": source})
    run(lib.tr_import_debian_start, options, progress)


def split(
    raw: Path,
    ratio: Sequence[float] = (60, 20, 20),
    *,
    ntype: str | None = None,
    labels: str | None = None,
    by_class: bool = False,
    edges: bool = False,
    etype: str | None = None,
    pairs: str = "none",
    seed: int = 0,
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Adds masks "train_mask", "val_mask" and "test_mask" to a raw graph; as ``troupe split``.

    Parameters
    ----------
    raw : its folder.
    ratio : three shares, of their sum.
    by_class : each class is split by itself.
    edges : edges are split in the place of nodes, those of type `etype`.
    pairs : which of them are the two ways of one, and stay together: "none"; "halves", where the
        second half of the edges reverses the first; "adjacent", where its reverse follows an edge.
    """
    if pairs not in ("none", "halves", "adjacent"):
        raise ValueError(f"pairs={pairs!r}: give 'none', 'halves' or 'adjacent'")
    if len(ratio) != 3 or min(ratio) < 0 or sum(ratio) <= 0:
        raise ValueError(f"ratio={tuple(ratio)}: give three shares, such as (60, 20, 20)")
    whole = int(lib.TR_SPLIT_WHOLE)
    train = round(whole * ratio[0] / sum(ratio))
    validation = min(round(whole * ratio[1] / sum(ratio)), whole - train)
    options = made(
        "tr_split_options",
        raw=raw,
        ntype=ntype,
        labels=labels,
        train_share=train,
        validation_share=validation,
        test_share=whole - train - validation,
        by_class=by_class,
        replace=replace,
        seed=seed,
        edges=edges,
        etype=etype,
        pairs=getattr(lib, f"TR_SPLIT_PAIRS_{pairs.upper()}"),
    )
    result = (lib.tr_split_result, "tr_split_report")
    return run(lib.tr_split_start, options, progress, result)


def add_feature(
    raw: Path,
    kind: str = "degree",
    *,
    ntype: str | None = None,
    name: str | None = None,
    width: int = 0,
    seed: int = 0,
    replace: bool = False,
    progress: OnProgress = None,
) -> Report | None:
    """Adds a feature to a raw graph: "degree", "one-hot", "random" or "pagerank"; as
    ``troupe feature``.

    width : "random": columns.
    """
    if kind not in ("degree", "one-hot", "random", "pagerank"):
        raise ValueError(f'kind={kind!r}: give "degree", "one-hot", "random" or "pagerank"')
    options = made(
        "tr_feature_options",
        raw=raw,
        ntype=ntype,
        name=name,
        kind=_number("TR_FEATURE_", kind, "kind"),
        width=width,
        seed=seed,
        replace=replace,
    )
    result = (lib.tr_feature_result, "tr_feature_report")
    return run(lib.tr_feature_start, options, progress, result)


__all__ = [
    "add_feature",
    "generate",
    "import_debian",
    "import_edges",
    "import_npz",
    "import_ogb",
    "import_table",
    "split",
]
