/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/debian.h"

#include <stdlib.h>

#include "partition/import/debian_archive.h"

void archive_fini(struct archive *archive)
{
    names_fini(&archive->names);
    names_fini(&archive->sections);
    free(archive->package_of);
    free(archive->provider_of);
    free(archive->packages);
    free(archive->dependencies);
    free(archive->texts);
}

int debian_import(FILE *input, const char *input_name, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error)
{
    struct archive archive = { 0 };
    struct debian_facts ignored;
    const struct cancel *cancel = write != NULL ? write->cancel : NULL;
    int rv = archive_parse(&archive, input, input_name, cancel, error);
    if (rv == 0)
        rv = archive_write(&archive, path, write, facts != NULL ? facts : &ignored, error);
    archive_fini(&archive);
    return rv;
}
