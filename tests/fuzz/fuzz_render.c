/* fuzz_render.c - any bytes as a board's file, rendered in every format: what
 * comes out is well formed, whatever is in the board.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "export/metrics.h"
#include "render/journal.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

/* What was written. */
struct output {
    char  *text;
    size_t length;
};

static int keep(void *context, const void *bytes, size_t n)
{
    struct output *o = context;

    o->text = realloc(o->text, o->length + n + 1);
    expect(o->text != NULL);
    memcpy(o->text + o->length, bytes, n);
    o->length += n;
    o->text[o->length] = '\0';
    return 0;
}

/* Nothing that a terminal would obey: controls, and what reverses text or ends lines. */
static void expect_harmless(const char *line, size_t length)
{
    const unsigned char *s = (const unsigned char *)line;
    size_t i;

    for (i = 0; i < length; i++) {
        expect(s[i] >= ' ' && s[i] != 0x7f);
        expect(s[i] != 0xc2 || s[i + 1] >= 0xa0);
        expect(s[i] != 0xe2 || s[i + 1] != 0x80 || s[i + 2] < 0xa8 || s[i + 2] > 0xae);
        expect(s[i] != 0xe2 || s[i + 1] != 0x81 || s[i + 2] < 0xa6 || s[i + 2] > 0xa9);
    }
}

static void expect_json(const char *text, size_t length)
{
    json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

    expect(json != NULL);
    json_decref(json);
}

/* `Key: value`. */
static void expect_text_line(const char *line, size_t length)
{
    expect(memmem(line, length, ": ", 2) != NULL);
}

/* `# ...` or `name{...} value`. */
static void expect_metric_line(const char *line, size_t length)
{
    expect(length > 0 && (line[0] == '#' || memmem(line, length, "{board=\"", 8) != NULL));
    expect(line[0] == '#' || memmem(line, length, "} ", 2) != NULL);
}

static void each_line(const struct output *o, void (*check)(const char *line, size_t length))
{
    const char *line = o->text, *end;

    for (; line != NULL && *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        expect(end != NULL);
        expect_harmless(line, (size_t)(end - line));
        check(line, (size_t)(end - line));
    }
}

/* Nothing of the board's is markup: its parts end where the page's own end them. */
static void expect_page(const struct output *o)
{
    static const char text_end[] = "</pre>\n</main>\n"
                                   "<script type=\"application/json\" id=\"data\">";
    const char *text = strstr(o->text, "<pre>"), *json, *end;

    expect(text != NULL);
    text += strlen("<pre>");
    expect((json = strchr(text, '<')) != NULL && strncmp(json, text_end, strlen(text_end)) == 0);
    json += strlen(text_end);
    expect((end = strchr(json, '<')) != NULL && strncmp(end, "</script>", 9) == 0);
    expect_json(json, (size_t)(end - json));
}

static uint64_t read_varint(const unsigned char **at, const unsigned char *end)
{
    uint64_t value = 0;
    unsigned shift;

    for (shift = 0; shift < 64; shift += 7) {
        expect(*at < end);
        value |= (uint64_t)(**at & 0x7f) << shift;
        if ((*(*at)++ & 0x80) == 0)
            return value;
    }
    abort();
}

/* The fields of a message fill it, and a metric's within a family do, too. */
static void expect_message(const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        uint64_t tag = read_varint(&at, end), length = 8;

        if ((tag & 7) == 0) {
            read_varint(&at, end);
            continue;
        }
        expect((tag & 7) == 1 || (tag & 7) == 2);
        if ((tag & 7) == 2)
            length = read_varint(&at, end);
        expect(length <= (uint64_t)(end - at));
        if (tag == (4 << 3 | 2))   /* a family's metric: no metric has a field 4 */
            expect_message(at, at + length);
        at += length;
    }
}

static void expect_families(const struct output *o)
{
    const unsigned char *at = (const unsigned char *)o->text, *end = at + o->length;

    while (at < end) {
        uint64_t length = read_varint(&at, end);

        expect(length <= (uint64_t)(end - at));
        expect_message(at, at + length);
        at += length;
    }
}

static void render(const struct mst_snapshot *s, enum mst_format format)
{
    struct output o = { NULL, 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep, &o);
    expect(mst_render(&sink, format, &(struct mst_shown){ .boards = &s, .count = 1 }) == 0);
    if (format == MST_FORMAT_JSON)
        expect_json(o.text, o.length);
    else if (format == MST_FORMAT_HTML)
        expect_page(&o);
    else if (format == MST_FORMAT_PROTOBUF)
        expect_families(&o);
    else
        each_line(&o, format == MST_FORMAT_TEXT ? expect_text_line : expect_metric_line);
    free(o.text);
}

/* As metrics of OpenTelemetry. */
static void export_metrics(const struct mst_snapshot *s)
{
    const struct mst_shown shown = { .boards = &s, .count = 1 };
    struct output o = { NULL, 0 };
    struct mst_sink sink;

    mst_sink_init(&sink, keep, &o);
    expect(mst_export_metrics(&sink, &(struct mst_export_metrics){ .shown = &shown }) == 0);
    expect_json(o.text, o.length);
    free(o.text);
}

static void render_snapshot(const struct mst_reader *reader)
{
    struct mst_world world = { .running = -1, .exemplars = true };
    char error[MST_ERROR_MAX];
    struct mst_snapshot s;
    struct mst_copy copy;
    enum mst_format format;

    if (mst_copy_take(&copy, reader, error) != 0)
        return;
    if (mst_snapshot_make(&s, &copy, &world) == 0) {
        for (format = 0; format <= MST_FORMAT_PROTOBUF; format++)
            render(&s, format);
        export_metrics(&s);
        mst_snapshot_free(&s);
    }
    mst_copy_free(&copy);
}

static void render_journal(const struct mst_reader *reader, const char *since)
{
    struct output o = { NULL, 0 };
    char error[MST_ERROR_MAX];
    struct mst_sink sink;

    mst_sink_init(&sink, keep, &o);
    if (mst_render_journal(&sink, reader, since, 100, false, error) == MST_JOURNAL_OK)
        each_line(&o, expect_json);
    else
        expect(o.length == 0);   /* the file does not change: no answer is cut */
    free(o.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("board", MFD_CLOEXEC);
    char error[MST_ERROR_MAX];
    struct mst_reader reader;

    expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if (mst_reader_attach(&reader, fd, "board", error) == 0) {
        render_snapshot(&reader);
        render_journal(&reader, "now");
        render_journal(&reader, "start");
        render_journal(&reader, "last");
        render_journal(&reader, "1-1-1");
        render_journal(&reader, "1-1-1-1");
        mst_reader_close(&reader);
    }
    close(fd);
    return 0;
}
