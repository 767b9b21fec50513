/* script.c - JSON within a script element: see script.h. */
#include "render/script.h"

void mst_script_end(struct mst_script *script)
{
    mst_sink_bytes(script->to, script->held, script->held_count);
    script->held_count = 0;
}

/* E2 80 A8 is U+2028, E2 80 A9 U+2029. Returns whether the byte is dealt with. */
static bool hold(struct mst_script *script, unsigned char byte)
{
    static const unsigned char begins[] = { 0xe2, 0x80 };

    if (script->held_count == sizeof begins && (byte == 0xa8 || byte == 0xa9)) {
        mst_sink_puts(script->to, byte == 0xa8 ? "\\u2028" : "\\u2029");
        script->held_count = 0;
        return true;
    }
    if (script->held_count == sizeof begins || byte != begins[script->held_count])
        mst_script_end(script);
    if (byte != begins[script->held_count])
        return false;
    script->held[script->held_count++] = byte;
    return true;
}

int mst_script_write(void *context, const void *bytes, size_t n)
{
    struct mst_script *script = context;
    const unsigned char *at = bytes;
    size_t i;

    for (i = 0; i < n; i++) {
        if (hold(script, at[i]))
            continue;
        if (at[i] == '<')
            mst_sink_puts(script->to, "\\u003c");
        else
            mst_sink_char(script->to, (char)at[i]);
    }
    return script->to->error;
}
