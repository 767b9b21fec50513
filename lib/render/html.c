/* html.c - boards as a page for browsers.
 *
 * The page contains a snapshot as JSON (json.c), which assets/status.js draws before it asks for
 * newer ones. Browsers without scripts show its text (text.c).
 */
#include "render/render.h"

#include <string.h>

#include "lib/render/assets.inc"
#include "render/script.h"

const char mst_html_policy[] =
    "default-src 'none'; script-src " pieces_js_HASH " " parts_js_HASH " " bands_js_HASH " "
    minute_js_HASH " " status_js_HASH "; style-src " colours_css_HASH " " status_css_HASH "; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";

/* A sink's writer over another one. */
static int write_escaped(void *page, const void *bytes, size_t n)
{
    struct mst_sink *to = page;
    const char *at = bytes;
    size_t i;

    for (i = 0; i < n; i++) {
        char one[2] = { at[i], '\0' };

        if (strchr("&<>\"'", at[i]) != NULL)
            mst_sink_html_string(to, one);
        else
            mst_sink_char(to, at[i]);   /* can be a part of a UTF-8 character */
    }
    return to->error;
}

static void put_text(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct mst_sink text;

    mst_sink_init(&text, write_escaped, sink);
    mst_render_text(&text, shown);
    mst_sink_flush(&text);
}

static void put_json(struct mst_sink *sink, const struct mst_shown *shown)
{
    struct mst_script script = { .to = sink };
    struct mst_sink json;

    mst_sink_init(&json, mst_script_write, &script);
    mst_render_json(&json, shown);
    mst_sink_flush(&json);
    mst_script_end(&script);
}

static void put_element(struct mst_sink *sink, const char *name, const char *content)
{
    mst_sink_char(sink, '<');
    mst_sink_puts(sink, name);
    mst_sink_char(sink, '>');
    mst_sink_puts(sink, content);
    mst_sink_puts(sink, "</");
    mst_sink_puts(sink, name);
    mst_sink_puts(sink, ">\n");
}

void mst_render_html(struct mst_sink *sink, const struct mst_shown *shown)
{
    mst_sink_puts(sink, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>mpm-status</title>\n");
    put_element(sink, "style", colours_css);
    put_element(sink, "style", status_css);
    mst_sink_puts(sink, "</head>\n<body>\n<main>\n<pre>");
    put_text(sink, shown);
    mst_sink_puts(sink, "</pre>\n</main>\n<script type=\"application/json\" id=\"data\">");
    put_json(sink, shown);
    mst_sink_puts(sink, "</script>\n");
    put_element(sink, "script", pieces_js);
    put_element(sink, "script", parts_js);
    put_element(sink, "script", bands_js);
    put_element(sink, "script", minute_js);
    put_element(sink, "script", status_js);
    mst_sink_puts(sink, "</body>\n</html>\n");
}
