/* lab_absent.c - in a build without the lab: what there is in its place. */
#include "cli/study_reports.h"
#include "cli/verbs.h"
#include "console/diag.h"

int mst_verb_lab(int argc, char **argv)
{
    (void)argc, (void)argv;
    return mst_failed(MST_EXIT_USAGE, "lab: this mpmstat was built without it (./configure "
                      "--without-lab)");
}

/* Its runs are reported, side by side. */
bool mst_is_study(struct mst_archive *archive)
{
    (void)archive;
    return false;
}

int mst_put_study(struct mst_sink *sink, bool html, struct mst_archive *archive, const char *path,
                  char error[MST_ERROR_MAX])
{
    (void)sink, (void)html, (void)archive;
    return mst_fail(error, "%s: this mpmstat was built without the lab", path);
}
