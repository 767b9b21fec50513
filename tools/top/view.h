/* view.h - the model as lines of text with a look, for a terminal of a given size. */
#ifndef MPMSTAT_TOP_VIEW_H
#define MPMSTAT_TOP_VIEW_H

#include "top/model.h"
#include "top/text.h"

#define MST_TOP_LINES_MAX 200u    /* of a terminal; taller ones stay empty below */
#define MST_TOP_FILTER_MAX 64u
#define MST_TOP_ORDERS    4u      /* of each list */

/* The lists that can be sorted, filtered and scrolled. */
enum mst_top_list { MST_TOP_IN_FLIGHT, MST_TOP_LABELS, MST_TOP_ENDS, MST_TOP_LISTS };

/* What the user has chosen. */
struct mst_top_view {
    unsigned width, height;
    uint64_t wall_ns;             /* of the latest look, since 1970 */
    uint64_t delay_ns;            /* between two looks */
    enum mst_top_list list;       /* which one has the keys, and most of the room */
    unsigned order[MST_TOP_LISTS];
    size_t   scroll;              /* rows of that list that are above; set to what there is */
    char     filter[MST_TOP_FILTER_MAX];   /* "": none */
    bool     is_typing;           /* the filter */
    bool     is_paused, is_help;
    bool     is_batch;            /* no keys */
    char     status[2 * MST_TOP_TEXT_MAX];   /* at the bottom; "": the keys */
};

struct mst_top_screen {
    unsigned count;
    struct mst_top_line lines[MST_TOP_LINES_MAX];
};

void mst_top_draw(struct mst_top_screen *screen, const struct mst_top *top,
                  struct mst_top_view *view);

#endif
