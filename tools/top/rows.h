/* rows.h - the lists of the view: their rows in the order that is shown. */
#ifndef MPMSTAT_TOP_ROWS_H
#define MPMSTAT_TOP_ROWS_H

#include "top/view.h"

/* A row, and what it is sorted by: the largest key, the first name, the largest `then`. */
struct mst_top_row {
    size_t      server;
    const void *item;
    uint64_t    key, then;
    const char *name;
};

struct mst_top_rows {
    enum mst_top_list   list;
    size_t              count, room;
    struct mst_top_row *items;
};

/* Collects the rows that the filter lets through, and sorts them. Free the items. Out of memory:
 * there are fewer. */
struct mst_top_rows mst_top_rows(const struct mst_top *top, const struct mst_top_view *view,
                                 enum mst_top_list list);

/* The list's heading: its columns and its order, and how many rows are not shown. */
void mst_top_rows_heading(struct mst_top_line *line, const struct mst_top_view *view,
                          enum mst_top_list list, size_t hidden);
void mst_top_row_draw(struct mst_top_line *line, const struct mst_top *top,
                      enum mst_top_list list, const struct mst_top_row *row);

/* The server's number at a row's begin, with a mark where the row is of before. */
void mst_top_add_server(struct mst_top_line *line, const struct mst_top *top, size_t server);

#endif
