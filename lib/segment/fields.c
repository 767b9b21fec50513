/* fields.c - fields.def as the table that readers, renderers and documents walk, and the names
 * of the enumerations.
 */
#include "segment/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WORDS(type, member) (sizeof(((type *)0)->member) / (sizeof(uint64_t)))

#define STORED_NONE(id)  0, 0
#define STORED_TOTAL(id) offsetof(struct mst_totals, id), WORDS(struct mst_totals, id)
#define STORED_COUNTERS(id) offsetof(struct mst_counters, id), WORDS(struct mst_counters, id)
#define STORED_ENDS(id) \
    offsetof(struct mst_other_end_counters, id), WORDS(struct mst_other_end_counters, id)

const struct mst_field mst_fields[] = {
#define MST_FIELD(scope, storage, id, type, unit, nature, of, json, text, openmetrics, help) \
    { MST_SCOPE_##scope, MST_STORAGE_##storage, #id, MST_TYPE_##type, MST_UNIT_##unit,    \
      MST_NATURE_##nature, MST_OF_##of, json, text, openmetrics, help,                    \
      STORED_##storage(id) },
#include "segment/fields.def"
#undef MST_FIELD
};
const size_t mst_field_count = sizeof(mst_fields) / sizeof(mst_fields[0]);

#define NAME(suffix, name) name,
const char *const mst_state_names[MST_STATE_COUNT]   = { MST_STATES(NAME) };
const char *const mst_phase_names[MST_PHASE_COUNT]   = { MST_PHASES(NAME) };
static const char *const class_names[MST_CLASS_COUNT] = { MST_CLASSES(NAME) };
const char *const mst_kind_names[MST_KIND_COUNT]     = { MST_KINDS(NAME) };
const char *const mst_reason_names[MST_REASON_COUNT] = { MST_REASONS(NAME) };
const char *const mst_event_names[MST_EVENT_COUNT]   = { MST_EVENTS(NAME) };
const char *const mst_opcache_names[MST_OPCACHE_STATE_COUNT] = { MST_OPCACHE_STATES(NAME) };
const char *const mst_interval_names[MST_INTERVAL_COUNT] = { MST_INTERVALS(NAME) };
const char *const mst_wait_names[MST_WAIT_COUNT]     = { MST_WAITS(NAME) };
const char *const mst_other_end_kind_names[MST_END_KIND_COUNT] = { MST_END_KINDS(NAME) };

unsigned mst_wait_named(const char *name)
{
    unsigned i = 0;

    while (i < MST_WAIT_COUNT && (name == NULL || strcmp(name, mst_wait_names[i]) != 0))
        i++;
    return i;
}

enum mst_opcache_state mst_opcache_named(const char *name)
{
    unsigned i;

    for (i = 0; name != NULL && i < MST_OPCACHE_STATE_COUNT; i++)
        if (strcmp(name, mst_opcache_names[i]) == 0)
            return i;
    return MST_OPCACHE_UNKNOWN;
}

bool mst_other_end_says_kind(const char *name, const char *kind)
{
    size_t length = strlen(kind);

    return strncmp(name, kind, length) == 0 && (name[length] == '\0' || name[length] == ' ');
}

void mst_wait_words(char words[MST_WAIT_WORDS_MAX], const char *kind, const char *name)
{
    bool is_said = mst_other_end_says_kind(name, kind);

    snprintf(words, MST_WAIT_WORDS_MAX, "%.31s%s%s", is_said ? "" : kind,
             is_said || name[0] == '\0' ? "" : " ", name);
}

void mst_code_words(char words[MST_CODE_WORDS_MAX], const char *function, const char *file,
                    uint64_t line)
{
    bool has_file = file != NULL && file[0] != '\0';
    char number[24] = "";

    if (line != 0 && line != MST_UNKNOWN)
        snprintf(number, sizeof number, ":%" PRIu64, line);
    snprintf(words, MST_CODE_WORDS_MAX, "%s%s%s%s", function, has_file ? ", " : "",
             has_file ? file : "", has_file ? number : "");
}

size_t mst_type_elements(enum mst_type type, const char *const **names)
{
    switch (type) {
    case MST_TYPE_STATE:  *names = mst_state_names;  return MST_STATE_COUNT;
    case MST_TYPE_CLASS:  *names = class_names;  return MST_CLASS_COUNT;
    case MST_TYPE_KIND:   *names = mst_kind_names;   return MST_KIND_COUNT;
    case MST_TYPE_REASON: *names = mst_reason_names; return MST_REASON_COUNT;
    case MST_TYPE_INTERVAL: *names = mst_interval_names; return MST_INTERVAL_COUNT;
    case MST_TYPE_WAIT:   *names = mst_wait_names;   return MST_WAIT_COUNT;
    case MST_TYPE_U64:
    case MST_TYPE_I64:
    case MST_TYPE_STRING:
    case MST_TYPE_HISTOGRAM:
        break;
    }
    *names = NULL;
    return 0;
}

const char *mst_scope_name(enum mst_scope scope)
{
    static const char *const names[] = {
        [MST_SCOPE_BOARD] = "board", [MST_SCOPE_LISTENER] = "listener",
        [MST_SCOPE_LABEL] = "label", [MST_SCOPE_PHASE] = "phase", [MST_SCOPE_SLOT] = "slot",
        [MST_SCOPE_END] = "end",
    };

    return names[scope];
}

const char *mst_type_name(enum mst_type type)
{
    static const char *const names[] = {
        [MST_TYPE_U64] = "integer", [MST_TYPE_I64] = "signed", [MST_TYPE_STRING] = "string",
        [MST_TYPE_HISTOGRAM] = "histogram", [MST_TYPE_STATE] = "per state",
        [MST_TYPE_CLASS] = "per class", [MST_TYPE_KIND] = "per kind",
        [MST_TYPE_REASON] = "per reason", [MST_TYPE_INTERVAL] = "per interval",
        [MST_TYPE_WAIT] = "per wait",
    };

    return names[type];
}

const char *mst_unit_name(enum mst_unit unit)
{
    static const char *const names[] = {
        [MST_UNIT_COUNT] = "count", [MST_UNIT_BYTES] = "bytes", [MST_UNIT_TIME] = "seconds",
        [MST_UNIT_INSTANT] = "time", [MST_UNIT_TEXT] = "text",
    };

    return names[unit];
}

const char *mst_nature_name(enum mst_nature nature)
{
    static const char *const names[] = {
        [MST_NATURE_COUNTER] = "counter", [MST_NATURE_GAUGE] = "gauge",
        [MST_NATURE_MAX] = "maximum", [MST_NATURE_QUANTILE] = "quantile",
        [MST_NATURE_FACT] = "fact",
    };

    return names[nature];
}
