/* fields_table.c - the table of all metrics as documentation, for `mpmstat fields` and the
 * reference: see fields_table.h. In names, <state> stands for each of several.
 */
#include "render/fields_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "render/json_writer.h"
#include "render/scope.h"

/* A composed name. It would be cut where it is too long, which none is. */
struct name {
    char   text[160];
    size_t used;
};

static void append(struct name *n, const char *string)
{
    size_t length = strnlen(string, sizeof(n->text) - 1 - n->used);

    memcpy(n->text + n->used, string, length);
    n->used += length;
    n->text[n->used] = '\0';
}

static void append_placeholder(struct name *n, const char *word, bool capital)
{
    size_t at;

    append(n, "<");
    at = n->used;
    append(n, word);
    if (capital && n->text[at] >= 'a' && n->text[at] <= 'z')
        n->text[at] = (char)(n->text[at] - 'a' + 'A');
    append(n, ">");
}

/* ---- what each format calls a field ------------------------------------------------ */

static void append_json_prefix(struct name *n, enum mst_scope scope)
{
    const struct mst_scope_form *form = &mst_scopes[scope];

    if (scope == MST_SCOPE_BOARD)
        return;
    append_json_prefix(n, form->parent);
    append(n, form->json);
    if (form->names != NULL) {
        append(n, ".");
        append_placeholder(n, form->openmetrics, false);
    } else {
        append(n, "[]");
    }
    append(n, ".");
}

static void append_json_name(struct name *n, const struct mst_field *f)
{
    append_json_prefix(n, f->scope);
    append(n, f->json);
    if (mst_type_key(f->type) != NULL) {
        append(n, ".");
        append_placeholder(n, mst_type_key(f->type), false);
    }
}

static void append_text_prefix(struct name *n, enum mst_scope scope)
{
    const struct mst_scope_form *form = &mst_scopes[scope];

    if (scope == MST_SCOPE_BOARD)
        return;
    append_text_prefix(n, form->parent);
    if (form->names != NULL) {
        append_placeholder(n, form->openmetrics, true);
        return;
    }
    append(n, form->text);
    append(n, "[");
    append_placeholder(n, form->openmetrics, false);
    append(n, "]");
}

static void append_text_name(struct name *n, const struct mst_field *f)
{
    const char *c;

    append_text_prefix(n, f->scope);
    for (c = f->text; *c != '\0'; c++) {
        if (*c == '*')
            append_placeholder(n, mst_type_key(f->type), true);
        else
            append(n, (char[]){ *c, '\0' });
    }
}

static void append_metric_label(struct name *n, const char *label)
{
    if (n->text[n->used - 1] != '{')
        append(n, ",");
    append(n, label);
}

static void append_scope_labels(struct name *n, enum mst_scope scope)
{
    if (scope == MST_SCOPE_BOARD)
        return;
    append_scope_labels(n, mst_scopes[scope].parent);
    append_metric_label(n, mst_scopes[scope].openmetrics);
}

/* Leaves out board and producer, which all metrics have. */
static void append_metric_name(struct name *n, const struct mst_field *f)
{
    size_t bare;

    append(n, f->openmetrics);
    append(n, mst_field_suffix(f));
    bare = n->used;
    append(n, "{");
    append_scope_labels(n, f->scope);
    if (mst_type_key(f->type) != NULL)
        append_metric_label(n, mst_type_key(f->type));
    if (f->type == MST_TYPE_STRING)
        append_metric_label(n, f->id);
    append(n, "}");
    if (n->used == bare + 2)
        n->text[n->used = bare] = '\0';
}

/* The three names of a field; "" where the format does not have it. */
struct names {
    struct name json, text, openmetrics;
};

static void compose(struct names *n, const struct mst_field *f)
{
    memset(n, 0, sizeof(*n));
    if (f->json != NULL)
        append_json_name(&n->json, f);
    if (f->text != NULL)
        append_text_name(&n->text, f);
    if (f->openmetrics != NULL)
        append_metric_name(&n->openmetrics, f);
}

/* ---- which servers have a field ------------------------------------------------------ */

static const struct { unsigned of; const char *name; } producers[] = {
    { MST_OF_APACHE, "apache" }, { MST_OF_PHP, "php" },
};
#define PRODUCERS (sizeof(producers) / sizeof(producers[0]))

/* The only producer that has the field; NULL: all have it. */
static const char *only_producer(const struct mst_field *f)
{
    size_t i;

    for (i = 0; i < PRODUCERS; i++)
        if (f->of == producers[i].of)
            return producers[i].name;
    return NULL;
}

/* ---- text: a paragraph each -------------------------------------------------------- */

static void put_text_name(struct mst_sink *out, const char *format, const struct name *name)
{
    if (name->used == 0)
        return;
    mst_sink_puts(out, format);
    mst_sink_puts(out, name->text);
    mst_sink_char(out, '\n');
}

static void put_text(struct mst_sink *out, const struct mst_field *f, const struct names *n)
{
    mst_sink_puts(out, mst_scope_name(f->scope));
    mst_sink_char(out, '.');
    mst_sink_puts(out, f->id);
    mst_sink_puts(out, ": ");
    mst_sink_puts(out, f->help);
    mst_sink_puts(out, "\n    ");
    mst_sink_puts(out, mst_nature_name(f->nature));
    mst_sink_puts(out, ", ");
    mst_sink_puts(out, mst_type_name(f->type));
    mst_sink_puts(out, ", ");
    mst_sink_puts(out, mst_unit_name(f->unit));
    if (only_producer(f) != NULL) {
        mst_sink_puts(out, ", only of ");
        mst_sink_puts(out, only_producer(f));
    }
    mst_sink_char(out, '\n');
    put_text_name(out, "    json         ", &n->json);
    put_text_name(out, "    text         ", &n->text);
    put_text_name(out, "    openmetrics  ", &n->openmetrics);
}

/* ---- Markdown: a table for each scope ------------------------------------------------ */

static void put_cell(struct mst_sink *out, const char *string)
{
    mst_sink_puts(out, "| ");
    for (; *string != '\0'; string++) {
        if (*string == '|')
            mst_sink_char(out, '\\');
        mst_sink_char(out, *string);
    }
    mst_sink_char(out, ' ');
}

static void put_code_cell(struct mst_sink *out, const struct name *name)
{
    mst_sink_puts(out, name->used > 0 ? "| `" : "| ");
    mst_sink_puts(out, name->text);
    mst_sink_puts(out, name->used > 0 ? "` " : "");
}

static void put_markdown_head(struct mst_sink *out, enum mst_scope scope, bool is_first)
{
    mst_sink_puts(out, is_first ? "## " : "\n## ");
    mst_sink_puts(out, mst_scope_name(scope));
    mst_sink_puts(out, "\n\n| meaning | of | nature | unit | JSON | text | OpenMetrics |\n"
                       "|---|---|---|---|---|---|---|\n");
}

static void put_markdown(struct mst_sink *out, const struct mst_field *f, const struct names *n)
{
    put_cell(out, f->help);
    put_cell(out, only_producer(f) != NULL ? only_producer(f) : "any");
    put_cell(out, mst_nature_name(f->nature));
    put_cell(out, mst_unit_name(f->unit));
    put_code_cell(out, &n->json);
    put_code_cell(out, &n->text);
    put_code_cell(out, &n->openmetrics);
    mst_sink_puts(out, "|\n");
}

/* ---- JSON: an object each -------------------------------------------------------------- */

static void put_elements(struct mst_json *j, const struct mst_field *f)
{
    const char *const *names;
    size_t count = mst_type_elements(f->type, &names), i;

    if (count == 0) {
        mst_json_string(j, "elements", NULL);
        return;
    }
    mst_json_begin(j, "elements", '[');
    for (i = 0; i < count; i++)
        mst_json_string(j, NULL, names[i]);
    mst_json_end(j, ']');
}

static void put_producers(struct mst_json *j, const struct mst_field *f)
{
    size_t i;

    mst_json_begin(j, "of", '[');
    for (i = 0; i < PRODUCERS; i++)
        if (f->of & producers[i].of)
            mst_json_string(j, NULL, producers[i].name);
    mst_json_end(j, ']');
}

static void put_name(struct mst_json *j, const char *key, const struct name *name)
{
    mst_json_string(j, key, name->used > 0 ? name->text : NULL);
}

static void put_json_row(struct mst_json *j, const struct mst_field *f, const struct names *n)
{
    mst_json_line(j, 0);
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "id", f->id);
    mst_json_string(j, "scope", mst_scope_name(f->scope));
    mst_json_string(j, "type", mst_type_name(f->type));
    put_elements(j, f);
    mst_json_string(j, "unit", mst_unit_name(f->unit));
    mst_json_string(j, "nature", mst_nature_name(f->nature));
    put_producers(j, f);
    put_name(j, "json", &n->json);
    put_name(j, "text", &n->text);
    put_name(j, "openmetrics", &n->openmetrics);
    mst_json_string(j, "help", f->help);
    mst_json_end(j, '}');
}

/* ---- a user's word -------------------------------------------------------------------- */

/* The length of what name begins with where that is the element's name, as it is (php_wait) or in
 * camel case (PhpWait); 0: it begins with something else. */
static size_t element_length(const char *name, const char *element)
{
    const char *at = name;

    for (; *element != '\0'; element++) {
        bool is_joint = *element == '_' || *element == '-';

        if (is_joint && *at != *element)
            continue;
        if (tolower((unsigned char)*at) != tolower((unsigned char)*element))
            return 0;
        at++;
    }
    return (size_t)(at - name);
}

/* The names that a placeholder stands for; 0: they are not fixed ones. */
static size_t placeholder_names(const char *word, size_t length, const char *const **names)
{
    enum mst_scope scope;
    int type;

    for (type = 0; type <= MST_TYPE_WAIT; type++)
        if (mst_type_key((enum mst_type)type) != NULL &&
            strlen(mst_type_key((enum mst_type)type)) == length &&
            strncasecmp(word, mst_type_key((enum mst_type)type), length) == 0)
            return mst_type_elements((enum mst_type)type, names);
    for (scope = MST_SCOPE_BOARD + 1; scope < MST_SCOPE_COUNT; scope++)
        if (mst_scopes[scope].names != NULL && strlen(mst_scopes[scope].openmetrics) == length &&
            strncasecmp(word, mst_scopes[scope].openmetrics, length) == 0) {
            *names = mst_scopes[scope].names;
            return mst_scopes[scope].name_count;
        }
    return 0;
}

/* Whether a word is a composed name, with an element's name for each placeholder or with the
 * placeholder itself. */
static bool fits(const char *composed, const char *word)
{
    const char *const *names = NULL;
    const char *end;
    size_t count, i, length;

    for (; *composed != '<' || *word == '<'; composed++, word++) {
        if (tolower((unsigned char)*composed) != tolower((unsigned char)*word))
            return false;
        if (*composed == '\0')
            return true;
    }
    end = strchr(composed, '>') + 1;
    count = placeholder_names(composed + 1, (size_t)(end - composed) - 2, &names);
    for (i = 0; i < count; i++) {
        length = element_length(word, names[i]);
        if (length > 0 && fits(end, word + length))
            return true;
    }
    for (i = 1; count == 0 && i <= strlen(word); i++)
        if (fits(end, word + i))
            return true;
    return false;
}

static const char *behind_elements(const char *name)
{
    const char *bracket = strrchr(name, ']');

    return bracket != NULL ? bracket + 1 : name;
}

/* A metric's name up to its labels. */
static bool is_family(const struct name *openmetrics, const char *word)
{
    size_t length = strcspn(openmetrics->text, "{");

    return length > 0 && strcspn(word, "{") == length &&
           strncasecmp(openmetrics->text, word, length) == 0;
}

static bool is_named(const struct mst_field *f, const struct names *n, const char *word)
{
    return strcasecmp(f->id, word) == 0 ||
           (n->json.used > 0 && fits(n->json.text, word)) ||
           (n->text.used > 0 && (fits(n->text.text, word) ||
                                 fits(behind_elements(n->text.text), word))) ||
           is_family(&n->openmetrics, word);
}

static bool contains(const struct mst_field *f, const struct names *n, const char *word)
{
    char full[64];

    snprintf(full, sizeof full, "%s.%s", mst_scope_name(f->scope), f->id);
    return strcasestr(full, word) != NULL || strcasestr(n->json.text, word) != NULL ||
           strcasestr(n->text.text, word) != NULL || strcasestr(n->openmetrics.text, word) != NULL;
}

static bool matches(const struct mst_field *f, const struct names *n, enum mst_fields_match match,
                    const char *word)
{
    switch (match) {
    case MST_FIELDS_ALL:        return true;
    case MST_FIELDS_NAMED:      return is_named(f, n, word);
    case MST_FIELDS_CONTAINING: return contains(f, n, word);
    case MST_FIELDS_NONE:       break;
    }
    return false;
}

enum mst_fields_match mst_fields_match(const char *word)
{
    enum mst_fields_match match;
    struct names names;
    size_t i;

    for (match = MST_FIELDS_NAMED; match < MST_FIELDS_NONE; match++)
        for (i = 0; i < mst_field_count; i++) {
            compose(&names, &mst_fields[i]);
            if (matches(&mst_fields[i], &names, match, word))
                return match;
        }
    return MST_FIELDS_NONE;
}

int mst_render_fields(struct mst_sink *sink, enum mst_fields_format format,
                      enum mst_fields_match match, const char *word)
{
    struct mst_json j = { .out = sink };
    enum mst_scope scope = MST_SCOPE_COUNT;
    size_t i;

    if (format == MST_FIELDS_JSON) {
        mst_json_begin(&j, NULL, '{');
        mst_json_begin(&j, "fields", '[');
    }
    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        struct names names;

        compose(&names, f);
        if (!matches(f, &names, match, word))
            continue;
        switch (format) {
        case MST_FIELDS_TEXT: put_text(sink, f, &names); break;
        case MST_FIELDS_JSON: put_json_row(&j, f, &names); break;
        case MST_FIELDS_MARKDOWN:
            if (f->scope != scope)
                put_markdown_head(sink, f->scope, scope == MST_SCOPE_COUNT);
            put_markdown(sink, f, &names);
            break;
        }
        scope = f->scope;
    }
    if (format == MST_FIELDS_JSON)
        mst_sink_puts(sink, "\n]}\n");
    return mst_sink_flush(sink);
}
