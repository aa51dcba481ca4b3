/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/lib/help.h"

#include <string.h>

static void print_summaries(const struct command *command, FILE *out)
{
    fprintf(out, "  %-12s%s\n", command->name, command->summary);
}

void help_print_all(const struct command *const *commands, FILE *out)
{
    fputs("Usage: troupe COMMAND ...\n"
          "Trains graph neural networks on partitioned graphs.\n\n"
          "Commands:\n",
          out);
    for (const struct command *const *at = commands; *at != NULL; at++)
        if ((*at)->summary != NULL)
            print_summaries(*at, out);
    fputs("\nOptions:\n"
          "  --help      show this; also \"troupe help\"\n"
          "  --version   show the version\n"
          "\n\"troupe help COMMAND\", \"troupe COMMAND --help\" and \"man troupe-COMMAND\" say "
          "more.\n",
          out);
}

/* What a kind of a command belongs to has the page. */
static void print_end(const char *name, FILE *out)
{
    fprintf(out,
            "\n\"man troupe-%.*s\" describes it. \"troupe --help\" lists all commands, with "
            "completion and --version.\n",
            (int)strcspn(name, " "), name);
}

static void print_kinds(const char *name, const struct command *command, FILE *out)
{
    fprintf(out, "Usage: troupe %s KIND ...\n%s.\n\nKinds:\n", name, command->summary);
    for (const struct command *kind = command->kinds; kind->name != NULL; kind++)
        print_summaries(kind, out);
    fprintf(out, "\n\"troupe %s KIND --help\" says more.", name);
    print_end(name, out);
}

/* Required options stand in the usage line; the others are listed below it. */
static void print_usage(const char *name, const struct command *command, FILE *out)
{
    fprintf(out, "Usage: troupe %s", name);
    if (command->operands[0] != '\0')
        fprintf(out, " %s", command->operands);
    for (const struct option_spec *spec = command->options; spec->name != NULL; spec++)
        if (spec->required) {
            fputc(' ', out);
            option_print_brief(spec, out);
        }
    fprintf(out, " [OPTION ...]\n%s.\n\nOptions:\n", command->summary);
}

void help_print_command(const char *name, const struct command *command, FILE *out)
{
    if (command->kinds != NULL) {
        print_kinds(name, command, out);
        return;
    }
    print_usage(name, command, out);
    options_print(command->options, out);
    if (command->examples != NULL)
        fputs("\nExamples:\n", out);
    for (const char *const *example = command->examples; example != NULL && *example != NULL;
         example++)
        fprintf(out, "  %s\n", *example);
    print_end(name, out);
}
