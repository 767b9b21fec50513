/* predicted.c - see predicted.h. */
#include "predicted.h"

#include "model/change.h"
#include "report/whatif.h"

static int ignore(void *context, const void *bytes, size_t n)
{
    (void)context, (void)bytes, (void)n;
    return 0;
}

bool predict_from(const struct mst_report_run *recorded, apr_pool_t *pool)
{
    struct mst_model_run run;
    struct mst_prediction prediction = { 0 };
    struct mst_system changed;
    struct mst_forecast then;
    struct mst_whatif w = { .archive = recorded->path, .changes = "load x2", .recorded = &run,
                            .prediction = &prediction, .changed = &changed, .then = &then };
    struct mst_sink sink;
    struct mst_doc doc;

    if (!mst_model_run_make(&run, &recorded->summary, mst_archive_db(recorded->archive), pool))
        return false;
    if (run.why_not == NULL) {
        mst_model_calibrate(&prediction, &run);
        changed = mst_system_copy(&run);
        mst_change_load(&changed, &run, "x2");
        mst_model_forecast(&then, &prediction, &changed, &run);
        w.count = 1;
    }
    mst_sink_init(&sink, ignore, NULL);
    doc = mst_doc_text(&sink, 96);
    mst_whatif_put(&doc, &w);
    mst_whatif_json(&sink, &w);
    mst_whatif_html(&sink, &w);
    return true;
}
