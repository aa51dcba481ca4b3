/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/import/debian.h"

#include <stdlib.h>

#include "partition/import/debian_archive.h"

void archive_fini(struct archive *archive)
{
    names_fini(&archive->names);
    names_fini(&archive->sections);
    names_fini(&archive->maintainers);
    names_fini(&archive->sources);
    names_fini(&archive->tags);
    names_fini(&archive->roles);
    free(archive->tagged.items);
    free(archive->needed.items);
    free(archive->built);
    free(archive->package_of);
    free(archive->provider_of);
    free(archive->packages);
    free(archive->dependencies);
    free(archive->texts);
}

int debian_import(const struct debian_input *input, const char *path,
                  const struct raw_write_options *write, struct debian_facts *facts,
                  struct error *error)
{
    struct archive archive = { .typed = input->typed };
    struct debian_facts ignored;
    if (facts != NULL)
        *facts = (struct debian_facts){ 0 };
    const struct cancel *cancel = write != NULL ? write->cancel : NULL;
    int rv = archive_parse(&archive, input->packages, input->name, cancel, error);
    if (rv == 0 && input->sources != NULL)
        rv = archive_parse_sources(&archive, input->sources, input->sources_name, cancel, error);
    if (rv == 0 && input->typed)
        rv = archive_write_typed(&archive, path, write, error);
    else if (rv == 0)
        rv = archive_write(&archive, path, write, facts != NULL ? facts : &ignored, error);
    archive_fini(&archive);
    return rv;
}
