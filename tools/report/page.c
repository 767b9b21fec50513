/* page.c - what every page consists of: see page.h. */
#include "report/page.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "render/script.h"
#include "segment/format.h"
#include "tools/report/assets.inc"

/* ---- pieces ---------------------------------------------------------------------- */

void mst_page_textf(struct mst_sink *sink, const char *format, ...)
{
    char buffer[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    text(sink, buffer);
}

void mst_page_element(struct mst_sink *sink, const char *tag, const char *string)
{
    if (string == NULL)
        return;
    raw(sink, "<");
    raw(sink, tag);
    raw(sink, ">");
    text(sink, string);
    raw(sink, "</");
    mst_sink_bytes(sink, tag, strcspn(tag, " "));
    raw(sink, ">");
}

void mst_page_human(struct mst_sink *sink, const char *value)
{
    size_t n = strlen(value);

    if (n > 3 && strcmp(value + n - 3, " us") == 0) {
        mst_sink_bytes(sink, value, n - 2);
        raw(sink, "µs");
    } else {
        text(sink, value);
    }
}

void mst_page_number(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                     struct mst_human shown)
{
    if (value == MST_UNKNOWN) {
        raw(sink, "<span class=\"unknown\">not known</span>");
        return;
    }
    raw(sink, "<data value=\"");
    mst_metric_put(sink, unit, value, "");
    raw(sink, "\">");
    mst_page_human(sink, shown.text);
    raw(sink, "</data>");
}

void mst_page_cell(struct mst_sink *sink, enum mst_metric_unit unit, uint64_t value,
                   struct mst_human shown)
{
    raw(sink, "<td>");
    mst_page_number(sink, unit, value, shown);
    raw(sink, "</td>");
}

void mst_page_table(struct mst_sink *sink, const char *name, const char *class)
{
    raw(sink, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
    text(sink, name);
    raw(sink, "\"><table class=\"");
    raw(sink, class);
    raw(sink, "\">");
}

void mst_page_pair(struct mst_sink *sink, const char *name, const char *value)
{
    if (value == NULL)
        return;
    raw(sink, "<tr>");
    mst_page_element(sink, "th scope=\"row\"", name);
    mst_page_element(sink, "td", value);
    raw(sink, "</tr>\n");
}

/* ---- the beginning --------------------------------------------------------------- */

static const struct { const char *script, *hash; } scripts[] = {
    [MST_PAGE_RUNS] = { report_js, report_js_HASH },
    [MST_PAGE_STUDY] = { study_js, study_js_HASH },
};

static void put_head(struct mst_sink *sink, const struct mst_page *page)
{
    raw(sink, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "script-src " chart_js_HASH " " pieces_js_HASH " " charts_js_HASH " ");
    raw(sink, scripts[page->kind].hash);
    raw(sink, "; style-src " colours_css_HASH " " report_css_HASH "; "
              "img-src data:; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n"
              "<meta name=\"generator\" content=\"mpmstat " MPMSTAT_VERSION "\">\n"
              "<link rel=\"icon\" href=\"data:,\">\n<title>");
    text(sink, page->title);
    raw(sink, " · mpmstat</title>\n<style>");
    raw(sink, colours_css);
    raw(sink, "</style>\n<style>");
    raw(sink, report_css);
    raw(sink, "</style>\n</head>\n");
}

void mst_page_begin(struct mst_sink *sink, const struct mst_page *page)
{
    put_head(sink, page);
    raw(sink, "<body>\n<a class=\"skip\" href=\"#");
    raw(sink, page->skip_to);
    raw(sink, "\">");
    text(sink, page->skip_text);
    raw(sink, "</a>\n<header><div class=\"bar\"><p class=\"brand\">");
    text(sink, page->brand);
    raw(sink, "</p><div id=\"controls\"></div></div>\n<h1>");
    text(sink, page->title);
    raw(sink, "</h1>\n");
    mst_page_element(sink, "p class=\"sub\"", page->sub);
    raw(sink, "\n");
}

/* ---- the end --------------------------------------------------------------------- */

static const char chart_license[] =
    "Permission is hereby granted, free of charge, to any person obtaining a copy of this "
    "software and associated documentation files (the \"Software\"), to deal in the Software "
    "without restriction, including without limitation the rights to use, copy, modify, merge, "
    "publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons "
    "to whom the Software is furnished to do so, subject to the following conditions: The above "
    "copyright notice and this permission notice shall be included in all copies or substantial "
    "portions of the Software. THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, "
    "EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS "
    "FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT "
    "HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF "
    "CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE "
    "USE OR OTHER DEALINGS IN THE SOFTWARE.";

static void put_footer(struct mst_sink *sink)
{
    raw(sink, "<footer><p>Written by mpmstat " MPMSTAT_VERSION ". Every number is of all "
              "recorded rows; time is in the server's and the load tool's own clocks. Nothing on "
              "this page is fetched from anywhere.</p>\n<details><summary>Charts: Chart.js, © "
              "Chart.js Contributors, MIT License</summary><p>");
    text(sink, chart_license);
    raw(sink, "</p></details></footer>\n");
}

int mst_page_end(struct mst_sink *sink, const struct mst_page *page, mst_page_data *put_data,
                 const void *of, char *error)
{
    struct mst_script script = { .to = sink };
    struct mst_sink inner;
    int status;

    put_footer(sink);
    raw(sink, "<script type=\"application/json\" id=\"data\">");
    mst_sink_init(&inner, mst_script_write, &script);
    status = put_data(&inner, of, error);
    mst_sink_flush(&inner);
    mst_script_end(&script);
    raw(sink, "</script>\n<script>");
    raw(sink, chart_js);
    raw(sink, "</script>\n<script>");
    raw(sink, pieces_js);
    raw(sink, "</script>\n<script>");
    raw(sink, charts_js);
    raw(sink, "</script>\n<script>");
    raw(sink, scripts[page->kind].script);
    raw(sink, "</script>\n</body>\n</html>\n");
    return status;
}
