/* layout.h - where a board's sections lie: between layout.c and board.c. */
#ifndef MPMSTAT_LAYOUT_H
#define MPMSTAT_LAYOUT_H

#include "write/board.h"

/* Fills the section table. Returns the file's size in bytes, 0 where the layout
 * is out of range. */
uint64_t mst_layout_place(const struct mst_layout *layout,
                          struct mst_section sections[MST_SECTION_COUNT]);

/* How many of fields.def's rows are stored: entries of MST_SECTION_FIELDS. */
uint32_t mst_layout_stored_fields(void);

#endif
