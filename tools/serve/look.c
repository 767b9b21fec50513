/* look.c - snapshots of the boards: see look.h. */
#include "serve/look.h"

static void add_target(struct mst_look *look, struct mst_target *target, bool exemplars)
{
    struct mst_snapshot snapshot;
    struct mst_copy copy;
    char error[MST_ERROR_MAX];

    target->exemplars = exemplars;
    if (mst_target_snapshot(target, &snapshot, &copy, error) >= 0) {
        mst_copy_free(&copy);
        mst_answer_add(&look->answer, &snapshot);
    } else {
        mst_strings_add(&look->reasons, error);
        if (!look->reasons.failed)
            mst_answer_add_unreadable(&look->answer, target->name,
                                      look->reasons.items[look->reasons.count - 1]);
    }
    mst_target_close(target);   /* or a directory of many would use up the descriptors */
}

int mst_look_at(struct mst_look *look, char *const *targets, size_t target_count, bool exemplars,
                char error[MST_ERROR_MAX])
{
    size_t i;

    if (mst_targets_resolve(&look->targets, targets, target_count, error) != 0)
        return -1;
    for (i = 0; i < look->targets.count; i++)
        add_target(look, &look->targets.items[i], exemplars);
    if (look->targets.note[0] != '\0')
        mst_answer_add_unreadable(&look->answer, look->targets.passed.example != NULL ?
                                  look->targets.passed.example : "", look->targets.note);
    return 0;
}

void mst_look_free(struct mst_look *look)
{
    mst_answer_free(&look->answer);
    mst_targets_free(&look->targets);
    mst_strings_free(&look->reasons);
}
