/* exit_by_finding.c - findings that make the exit status 1: see exit_by_finding.h. */
#include "cli/exit_by_finding.h"

#include <stdio.h>
#include <string.h>

#include "console/diag.h"

int mst_fail_on_read(struct mst_fail_on *f, const char *verb, const char *argument)
{
    size_t length;
    char name[32];
    enum mst_code code;

    do {
        length = strcspn(argument, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, argument);
        code = mst_code_of(name);
        if (code == MST_CODE_COUNT)
            return mst_usage_error(verb, "--fail-on takes codes of findings, and \"%.*s\" is none: "
                                   "docs/reference/findings.md lists them", (int)length, argument);
        f->any = f->codes[code] = true;
        argument += length;
    } while (*argument++ == ',');
    return MST_EXIT_OK;
}

bool mst_fail_on_found(const struct mst_fail_on *f, const struct mst_summary *s)
{
    bool found = false;
    size_t i;

    for (i = 0; i < s->finding_count; i++)
        if (f->codes[s->findings[i].code]) {
            mst_warn("run %lld has the finding %s (--fail-on)", (long long)s->id,
                     mst_code_names[s->findings[i].code]);
            found = true;
        }
    return found;
}
