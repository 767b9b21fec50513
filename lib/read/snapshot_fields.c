/* snapshot_fields.c - the members of a snapshot's structs, one for each field of fields.def. */
#include "read/snapshot_draft.h"

#include <string.h>

#define OFFSET_BOARD(id)    offsetof(struct mst_snapshot, id)
#define OFFSET_LISTENER(id) offsetof(struct mst_snapshot_listener, id)
#define OFFSET_LABEL(id)    offsetof(struct mst_snapshot_label, id)
#define OFFSET_PHASE(id)    offsetof(struct mst_snapshot_phase, id)
#define OFFSET_SLOT(id)     offsetof(struct mst_snapshot_slot, id)
#define OFFSET_END(id)      offsetof(struct mst_snapshot_end, id)

size_t mst_snapshot_offset(const struct mst_field *f)
{
    static const size_t offsets[] = {
#define MST_FIELD(scope, storage, id, ...) OFFSET_##scope(id),
#include "segment/fields.def"
#undef MST_FIELD
    };

    return offsets[f - mst_fields];
}

void mst_draft_fill_stored(enum mst_scope scope, void *to, const void *from, size_t element,
                           size_t elements)
{
    size_t i;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        size_t bytes = f->stored_words * sizeof(uint64_t) / elements;

        if (f->scope == scope && f->storage != MST_STORAGE_NONE)
            memcpy((char *)to + mst_snapshot_offset(f),
                   (const char *)from + f->stored_offset + element * bytes, bytes);
    }
}

void mst_draft_blank_foreign(const struct mst_draft *m, enum mst_scope scope, void *element)
{
    size_t i, n, words;

    for (i = 0; i < mst_field_count; i++) {
        const struct mst_field *f = &mst_fields[i];
        char *member = (char *)element + mst_snapshot_offset(f);
        const char *const *names;

        if (f->scope != scope || f->of & 1u << m->copy->header.producer)
            continue;
        if (f->type == MST_TYPE_STRING) {
            memcpy(member, &(const char *){ NULL }, sizeof(const char *));
            continue;
        }
        n = mst_type_elements(f->type, &names);
        words = f->type == MST_TYPE_HISTOGRAM ? sizeof(struct mst_histogram) / sizeof(uint64_t)
              : n > 0 ? n : 1;
        memset(member, 0xff, words * sizeof(uint64_t));   /* MST_UNKNOWN */
    }
}
