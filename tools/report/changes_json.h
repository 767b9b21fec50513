/* changes_json.h - settings to change, for programs: of a finding, and of a server's need. */
#ifndef MPMSTAT_CHANGES_JSON_H
#define MPMSTAT_CHANGES_JSON_H

#include "analysis/finding.h"
#include "render/json_writer.h"

/* Members "settings", "check" and "restart" of the object that has begun. */
void mst_changes_json(struct mst_json *j, const struct mst_changes *change);

#endif
