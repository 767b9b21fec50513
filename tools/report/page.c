/* page.c - what every page consists of: see page.h. */
#include "report/page.h"

#include "doc/markup.h"
#include "render/script.h"
#include "tools/report/assets.inc"

/* ---- the beginning --------------------------------------------------------------- */

static const struct { const char *name, *script, *hash; } scripts[] = {
    [MST_PAGE_RUNS] = { "runs", report_js, report_js_HASH },
    [MST_PAGE_STUDY] = { "study", study_js, study_js_HASH },
    [MST_PAGE_PLAIN] = { "plain", NULL, NULL },
};

static void put_head(struct mst_sink *sink, const struct mst_html_page *page)
{
    mst_sink_puts(sink,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src ");
    if (scripts[page->kind].script != NULL) {
        mst_sink_puts(sink, chart_js_HASH " " pieces_js_HASH " " parts_js_HASH " "
                      charts_js_HASH " ");
        mst_sink_puts(sink, scripts[page->kind].hash);
        if (page->kind == MST_PAGE_RUNS)
            mst_sink_puts(sink, " " flame_js_HASH);
    } else {
        mst_sink_puts(sink, "'none'");
    }
    mst_sink_puts(sink,
        "; style-src " colours_css_HASH " " report_css_HASH "; "
        "img-src data:; base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"mpmstat " MPMSTAT_VERSION "\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n");
    mst_html(sink, "<title>%s · mpmstat</title>\n", page->title);
    mst_sink_puts(sink, "<style>");
    mst_sink_puts(sink, colours_css);
    mst_sink_puts(sink, "</style>\n<style>");
    mst_sink_puts(sink, report_css);
    mst_sink_puts(sink, "</style>\n</head>\n");
}

void mst_page_begin(struct mst_sink *sink, const struct mst_html_page *page)
{
    put_head(sink, page);
    mst_html(sink, "<body class=\"%s\">\n<a class=\"skip\" href=\"#%s\">%s</a>\n"
             "<header><div class=\"bar\"><p class=\"brand\">%s</p><div id=\"controls\"></div></div>"
             "\n<h1>%s</h1>\n", scripts[page->kind].name, page->skip_to, page->skip_text,
             page->brand, page->title);
    if (page->sub != NULL)
        mst_html(sink, "<p class=\"sub\">%s</p>", page->sub);
    mst_html(sink, "\n");
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

static void put_script(struct mst_sink *sink, const char *script)
{
    mst_sink_puts(sink, "<script>");
    mst_sink_puts(sink, script);
    mst_sink_puts(sink, "</script>\n");
}

int mst_page_end(struct mst_sink *sink, const struct mst_html_page *page, mst_page_data *put_data,
                 const void *of, char *error)
{
    struct mst_script script = { .to = sink };
    struct mst_sink inner;
    int status;

    mst_html(sink, "<footer><p>Written by mpmstat " MPMSTAT_VERSION ". Every number is of all "
             "recorded rows; time is in the server's and the load tool's own clocks. Nothing on "
             "this page is fetched from anywhere.</p>\n");
    if (scripts[page->kind].script == NULL) {
        mst_sink_puts(sink, "</footer>\n</body>\n</html>\n");
        return 0;
    }
    mst_html(sink, "<details><summary>Charts: Chart.js, © "
             "Chart.js Contributors, MIT License</summary><p>%s</p></details></footer>\n",
             chart_license);
    mst_sink_puts(sink, "<script type=\"application/json\" id=\"data\">");
    mst_sink_init(&inner, mst_script_write, &script);
    status = put_data(&inner, of, error);
    mst_sink_flush(&inner);
    mst_script_end(&script);
    mst_sink_puts(sink, "</script>\n");
    put_script(sink, chart_js);
    put_script(sink, pieces_js);
    put_script(sink, parts_js);
    put_script(sink, charts_js);
    put_script(sink, scripts[page->kind].script);
    if (page->kind == MST_PAGE_RUNS)
        put_script(sink, flame_js);
    mst_sink_puts(sink, "</body>\n</html>\n");
    return status;
}
