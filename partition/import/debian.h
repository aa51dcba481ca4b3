/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Debian archive as a graph: packages that need each other, classified by their sections.
 *
 * Input is what `apt-cache dumpavail` prints: stanzas of "Field: value" lines
 * (https://www.debian.org/doc/debian-policy/ch-controlfields.html). Rules:
 *
 *  - A node is a package name; of several stanzas of one name the first counts.
 *  - Depends, Pre-Depends, Recommends, Suggests and Enhances give edges, package -> needed
 *    package. Each alternative of "a | b" counts; versions, architectures and build profiles are
 *    cut off. A name that is no package stands for the first package that Provides it; a name
 *    that nobody provides gives no edge. A dependency that is said twice is two edges.
 *  - Edge 2i + 1 is the reverse of edge 2i. Edge feature "kind" (int8): 0 to 4 in the order
 *    above, 5 to 9 for their reverses.
 *  - "feat" (256 float32): words of the description (runs of ASCII letters and digits, lower-cased)
 *    counted, with a sign, at a hash of each (Weinberger et al.:
 *    "Feature Hashing for Large Scale Multitask Learning", ICML 2009).
 *  - "label" (int64): the number of the section in alphabetical order, its area ("contrib/")
 *    cut off; -1 without one. "train_mask", "val_mask", "test_mask" (uint8): 50, 25, 25 % by a
 *    hash of the name, so that a package stays in its part from release to release.
 *  - names.txt and sections.txt hold the names of nodes and labels, one a line.
 *
 * With types (debian_typed.c) the archive is a graph of five node types, where the rules above hold
 * for packages but for these:
 *
 *  - Nodes are packages, and the maintainers, sections, tags and sources that they name; what is not
 *    said has no node, but a package without Source is of the source of its own name. Each type has
 *    the names of its nodes.
 *  - Each field is an edge type from package to package: "depends", "pre_depends", "recommends",
 *    "suggests", "enhances", and "conflicts", whose names stand for packages alone and never for the
 *    package itself. "maintained_by", "in_section", "has_tag" and "built_from" lead to the other
 *    types. "build_depends" leads from a source to packages: Build-Depends, -Indep and -Arch of the
 *    index of sources, of those sources that packages are built from.
 *  - Each edge type has a "rev_" one of the same edges turned round: edge i is the reverse of edge i.
 *    A type without an edge, or a node type without a node, is left out.
 *  - "label" of a package is its first tag of the facet "role", such as program or shared-lib, -1
 *    without one or where it is TODO; tags of that facet are no nodes. Packages without a label are
 *    in no mask.
 */
#ifndef PARTITION_IMPORT_DEBIAN_H
#define PARTITION_IMPORT_DEBIAN_H

#include <stdint.h>
#include <stdio.h>

#include "partition/raw/raw_write.h"

#define DEBIAN_FEATURES 256
#define DEBIAN_KINDS 5
/* With types there are conflicts too. */
#define DEBIAN_TYPED_KINDS 6

struct debian_facts {
    uint64_t num_packages;
    uint64_t num_dependencies; /* edges before their reverses */
    uint64_t num_unresolved;   /* names that no package has or provides */
    uint64_t num_sections;
    uint64_t kinds[DEBIAN_KINDS];
};

struct debian_input {
    FILE *packages;
    const char *name; /* in errors */
    bool typed;
    FILE *sources; /* with types: the index of sources; NULL: there are no "build_depends" */
    const char *sources_name;
};

/* Reads input to its end and writes the graph "debian" at path. facts may be NULL, and are zero of
 * a graph with types. TR_EFORMAT names the line; an input without packages is TR_EFORMAT too. */
int debian_import(const struct debian_input *input, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error);

#endif
