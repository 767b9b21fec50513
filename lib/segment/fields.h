/* fields.h - fields.def as structs and as a table.
 *
 * struct mst_totals and struct mst_counters are what the board stores; the table
 * (mst_fields) is what readers, renderers and documents walk.
 */
#ifndef MPMSTAT_FIELDS_H
#define MPMSTAT_FIELDS_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "segment/format.h"

enum mst_scope   { MST_SCOPE_BOARD, MST_SCOPE_LISTENER, MST_SCOPE_LABEL, MST_SCOPE_PHASE,
                   MST_SCOPE_SLOT, MST_SCOPE_END, MST_SCOPE_COUNT };
enum mst_storage { MST_STORAGE_NONE, MST_STORAGE_TOTAL, MST_STORAGE_COUNTERS, MST_STORAGE_ENDS };
enum mst_type    { MST_TYPE_U64, MST_TYPE_I64, MST_TYPE_STRING, MST_TYPE_HISTOGRAM,
                   MST_TYPE_STATE, MST_TYPE_CLASS, MST_TYPE_KIND, MST_TYPE_REASON,
                   MST_TYPE_INTERVAL, MST_TYPE_WAIT };
enum mst_unit    { MST_UNIT_COUNT, MST_UNIT_BYTES, MST_UNIT_TIME, MST_UNIT_INSTANT, MST_UNIT_TEXT };
enum mst_nature  { MST_NATURE_COUNTER, MST_NATURE_GAUGE, MST_NATURE_MAX, MST_NATURE_QUANTILE,
                   MST_NATURE_FACT };

/* A member of the C type that `type` stands for. */
#define MST_MEMBER_U64(id)       uint64_t id;
#define MST_MEMBER_I64(id)       int64_t id;
#define MST_MEMBER_STRING(id)    const char *id;
#define MST_MEMBER_HISTOGRAM(id) struct mst_histogram id;
#define MST_MEMBER_STATE(id)     uint64_t id[MST_STATE_COUNT];
#define MST_MEMBER_CLASS(id)     uint64_t id[MST_CLASS_COUNT];
#define MST_MEMBER_KIND(id)      uint64_t id[MST_KIND_COUNT];
#define MST_MEMBER_REASON(id)    uint64_t id[MST_REASON_COUNT];
#define MST_MEMBER_INTERVAL(id)  uint64_t id[MST_INTERVAL_COUNT];
#define MST_MEMBER_WAIT(id)      uint64_t id[MST_WAIT_COUNT];

/* A board has these words once. Every process of the server adds to them. */
#define MST_STORED_NONE(scope, id, type)
#define MST_STORED_TOTAL(scope, id, type) MST_MEMBER_##type(id)
#define MST_STORED_COUNTERS(scope, id, type)
#define MST_STORED_ENDS(scope, id, type)
#define MST_FIELD(scope, storage, id, type, ...) MST_STORED_##storage(scope, id, type)
struct mst_totals {
#include "segment/fields.def"
} __attribute__((aligned(64)));
#undef MST_FIELD
#undef MST_STORED_TOTAL
#undef MST_STORED_COUNTERS

/* Each label has these words once in each stripe. Writers add to them with relaxed atomics, readers
 * sum them over the stripes. A PHASE's member is an array over mst_phase_index(). */
#define MST_COUNTERS_LABEL(id, type) MST_MEMBER_##type(id)
#define MST_COUNTERS_PHASE(id, type) MST_COUNTERS_PHASE_##type(id)
#define MST_COUNTERS_PHASE_HISTOGRAM(id) struct mst_histogram id[MST_COUNTED_PHASES];
#define MST_STORED_TOTAL(scope, id, type)
#define MST_STORED_COUNTERS(scope, id, type) MST_COUNTERS_##scope(id, type)
#define MST_FIELD(scope, storage, id, type, ...) MST_STORED_##storage(scope, id, type)
struct mst_counters {
#include "segment/fields.def"
} __attribute__((aligned(64)));
#undef MST_FIELD
#undef MST_STORED_COUNTERS
#undef MST_STORED_ENDS

/* Each other end has these words once in each stripe. */
#define MST_STORED_COUNTERS(scope, id, type)
#define MST_STORED_ENDS(scope, id, type) MST_MEMBER_##type(id)
#define MST_FIELD(scope, storage, id, type, ...) MST_STORED_##storage(scope, id, type)
struct mst_other_end_counters {
#include "segment/fields.def"
} __attribute__((aligned(64)));
#undef MST_FIELD
#undef MST_STORED_TOTAL
#undef MST_STORED_COUNTERS
#undef MST_STORED_ENDS
#undef MST_STORED_NONE

/* Which producers have a metric: a set of 1 << enum mst_producer. */
#define MST_OF_APACHE (1u << MST_PRODUCER_APACHE)
#define MST_OF_PHP    (1u << MST_PRODUCER_PHP)
#define MST_OF_ANY    (MST_OF_APACHE | MST_OF_PHP)

/* One row of the table. */
struct mst_field {
    enum mst_scope   scope;
    enum mst_storage storage;
    const char      *id;
    enum mst_type    type;
    enum mst_unit    unit;
    enum mst_nature  nature;
    unsigned         of;             /* producers that have it; unknown on other boards */
    const char      *json, *text, *openmetrics;   /* NULL: not in that format */
    const char      *help;
    size_t           stored_offset;  /* in the struct of its storage; 0 for NONE */
    size_t           stored_words;   /* 64-bit words there; 0 for NONE */
};

extern const struct mst_field mst_fields[];
extern const size_t mst_field_count;

/* The number of elements of an array type, and their names. 0 and NULL for the other types. */
size_t mst_type_elements(enum mst_type type, const char *const **names);

extern const char *const mst_state_names[MST_STATE_COUNT];
extern const char *const mst_phase_names[MST_PHASE_COUNT];
extern const char *const mst_kind_names[MST_KIND_COUNT];
extern const char *const mst_reason_names[MST_REASON_COUNT];
extern const char *const mst_event_names[MST_EVENT_COUNT];
extern const char *const mst_opcache_names[MST_OPCACHE_STATE_COUNT];
extern const char *const mst_interval_names[MST_INTERVAL_COUNT];
extern const char *const mst_wait_names[MST_WAIT_COUNT];
extern const char *const mst_other_end_kind_names[MST_END_KIND_COUNT];

/* MST_OPCACHE_UNKNOWN also: there is none of that name. `name` can be NULL. */
enum mst_opcache_state mst_opcache_named(const char *name);
/* The kind of wait of that name; MST_WAIT_COUNT: none. `name` can be NULL. */
unsigned mst_wait_named(const char *name);

/* Whether an other end's name says its kind itself: "sleep", "lock session", "http a.example:80".
 * Text that has both leaves the kind out then. */
bool mst_other_end_says_kind(const char *name, const char *kind);

/* Kind and name of what is waited for, as text has them: "database mysql localhost", "sleep". */
#define MST_WAIT_WORDS_MAX (MST_NAME_MAX + 32u)
void mst_wait_words(char words[MST_WAIT_WORDS_MAX], const char *kind, const char *name);

/* A place in PHP's code, as text has it: "Repository->find, src/Repo.php:88". `file` is NULL or ""
 * for a function of PHP itself; line 0 or MST_UNKNOWN: not known. */
#define MST_CODE_WORDS_MAX (MST_FRAME_FUNCTION_MAX + MST_FRAME_FILE_MAX + 24u)
void mst_code_words(char words[MST_CODE_WORDS_MAX], const char *function, const char *file,
                    uint64_t line);

/* Names of scopes, types, units and natures, as `mpmstat fields` shows them. */
const char *mst_scope_name(enum mst_scope scope);
const char *mst_type_name(enum mst_type type);
const char *mst_unit_name(enum mst_unit unit);
const char *mst_nature_name(enum mst_nature nature);

#endif
