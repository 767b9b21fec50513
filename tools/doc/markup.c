/* markup.c - templates that escape: see markup.h. */
#include "doc/markup.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

typedef void put_text(struct mst_sink *sink, const char *text);

static void fill(struct mst_sink *sink, put_text *put, const char *template, va_list args)
{
    const char *at = template, *percent;

    for (; (percent = strchr(at, '%')) != NULL; at = percent + 1) {
        mst_sink_bytes(sink, at, (size_t)(percent - at));
        percent++;
        if (*percent == 's') {
            put(sink, va_arg(args, const char *));
        } else if (*percent == 'u') {
            mst_sink_u64(sink, va_arg(args, unsigned));
        } else if (*percent == 'z') {
            mst_sink_u64(sink, va_arg(args, size_t));
            percent++;
        } else if (*percent == 'l') {
            percent += strspn(percent, "l");
            if (*percent == 'd')
                mst_sink_i64(sink, va_arg(args, int64_t));
            else
                mst_sink_u64(sink, va_arg(args, uint64_t));
        } else {
            assert(*percent == '%');
            mst_sink_char(sink, '%');
        }
    }
    mst_sink_puts(sink, at);
}

void mst_html(struct mst_sink *sink, const char *template, ...)
{
    va_list args;

    va_start(args, template);
    fill(sink, mst_sink_html_string, template, args);
    va_end(args);
}

void mst_markdown(struct mst_sink *sink, const char *template, ...)
{
    va_list args;

    va_start(args, template);
    fill(sink, mst_sink_markdown_string, template, args);
    va_end(args);
}
