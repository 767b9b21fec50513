/* json_writer.c - JSON with automatic commas: see json_writer.h. */
#include "render/json_writer.h"

#include "segment/format.h"   /* MST_UNKNOWN */

void mst_json_value(struct mst_json *j, const char *key)
{
    if (j->comma)
        mst_sink_puts(j->out, j->spaced ? ", " : ",");
    j->comma = true;
    if (key != NULL) {
        mst_sink_char(j->out, '"');
        mst_sink_puts(j->out, key);
        mst_sink_puts(j->out, j->spaced ? "\": " : "\":");
    }
}

void mst_json_begin(struct mst_json *j, const char *key, char bracket)
{
    mst_json_value(j, key);
    mst_sink_char(j->out, bracket);
    j->comma = false;
}

void mst_json_end(struct mst_json *j, char bracket)
{
    mst_sink_char(j->out, bracket);
    j->comma = true;
}

void mst_json_end_line(struct mst_json *j)
{
    mst_sink_puts(j->out, "}\n");
    j->comma = false;
}

void mst_json_line(struct mst_json *j, unsigned indent)
{
    mst_sink_puts(j->out, j->comma ? ",\n" : "\n");
    j->comma = false;
    while (indent-- > 0)
        mst_sink_char(j->out, ' ');
}

void mst_json_count(struct mst_json *j, const char *key, uint64_t n)
{
    mst_json_value(j, key);
    if (n > INT64_MAX)
        mst_sink_puts(j->out, "null");
    else
        mst_sink_u64(j->out, n);
}

void mst_json_seconds(struct mst_json *j, const char *key, uint64_t ns)
{
    mst_json_value(j, key);
    if (ns == MST_UNKNOWN)
        mst_sink_puts(j->out, "null");
    else
        mst_sink_seconds(j->out, ns);
}

void mst_json_instant(struct mst_json *j, const char *key, uint64_t ns)
{
    mst_json_value(j, key);
    if (ns == MST_UNKNOWN) {
        mst_sink_puts(j->out, "null");
        return;
    }
    mst_sink_char(j->out, '"');
    mst_sink_instant(j->out, ns);
    mst_sink_char(j->out, '"');
}

void mst_json_string(struct mst_json *j, const char *key, const char *string)
{
    mst_json_value(j, key);
    mst_sink_json_string(j->out, string);
}

void mst_json_bool(struct mst_json *j, const char *key, bool value)
{
    mst_json_value(j, key);
    mst_sink_puts(j->out, value ? "true" : "false");
}
