/* look.h - snapshots of the boards that the targets are at this moment. */
#ifndef MPMSTAT_SERVE_LOOK_H
#define MPMSTAT_SERVE_LOOK_H

#include "base/strings.h"
#include "render/answer.h"
#include "source/target.h"

struct mst_look {
    struct mst_targets       targets;
    struct mst_strings       reasons;     /* why boards are unreadable */
    struct mst_status_answer answer;
};

/* Looks at the targets (none: this machine's boards); *look begins as { 0 }. 0; -1 with a sentence
 * where there are none. Free it in either case. */
int  mst_look_at(struct mst_look *look, char *const *targets, size_t target_count, bool exemplars,
                 char error[MST_ERROR_MAX]);
void mst_look_free(struct mst_look *look);

#endif
