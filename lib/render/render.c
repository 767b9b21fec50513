/* render.c - from a format's name to its renderer. */
#include "render/render.h"

#include <assert.h>

int mst_render(struct mst_sink *sink, enum mst_format format, const struct mst_shown *shown)
{
    switch (format) {
    case MST_FORMAT_TEXT:        mst_render_text(sink, shown); break;
    case MST_FORMAT_JSON:        mst_render_json(sink, shown); break;
    case MST_FORMAT_OPENMETRICS: mst_render_openmetrics(sink, shown); break;
    case MST_FORMAT_PROMETHEUS:  mst_render_prometheus(sink, shown); break;
    case MST_FORMAT_HTML:        mst_render_html(sink, shown); break;
    case MST_FORMAT_PROTOBUF:    mst_render_protobuf(sink, shown); break;
    case MST_FORMAT_JOURNAL:
    case MST_FORMAT_COUNT:
        assert(!"a format of snapshots");
        break;
    }
    return mst_sink_flush(sink);
}
