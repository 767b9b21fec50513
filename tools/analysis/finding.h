/* finding.h - what an analysis found: one cause, with its evidence and what to do about it.
 *
 * The codes are promises (JSON, archives, --fail-on); analysis/codes.def documents them. The
 * rules that make findings are in findings/.
 */
#ifndef MPMSTAT_FINDING_H
#define MPMSTAT_FINDING_H

#include <stddef.h>
#include <stdint.h>

enum mst_code {
#define X_CODE(id, name, group, meaning, evidence, otherwise) MST_CODE_##id,
#include "analysis/codes.def"
#undef X_CODE
    MST_CODE_COUNT
};

enum mst_certainty { MST_CERTAIN, MST_LIKELY, MST_CANNOT_TELL };

/* What a finding's share is a part of. The names are promises (JSON). */
enum mst_share_of {
    MST_SHARE_OF_TIME,       /* the time of all requests in the server */
    MST_SHARE_OF_REQUESTS,   /* their number */
    MST_SHARE_OF_CLIENT,     /* the time of all requests, as the client measured it */
    MST_SHARE_OF_DELIVERY,   /* the time until the client had all of each response */
    MST_SHARE_OF_HELD,       /* the time for which workers were held */
    MST_SHARE_OF_SPAN,       /* the time that was looked at: of a run its duration */
    MST_SHARE_OF_WORKERS,    /* the workers that there can be */
    MST_SHARE_OF_AT_ONCE,    /* the requests that were there at once: served, and waiting */
    MST_SHARE_OF_COUNT
};
extern const char *const mst_share_of_names[MST_SHARE_OF_COUNT];

/* A figure that the finding rests on. The name ends with its unit: _ns, _milli, _bytes; without
 * one it is a count. */
struct mst_finding_number { const char *name; uint64_t value; };
#define MST_FINDING_NUMBERS 10u

/* A value of the server's configuration that the action changes. All of a finding's go together:
 * the server accepts them with what else its configuration has. The names are promises (JSON). */
struct mst_setting {
    const char *name;           /* the directive, or FPM's key */
    char        file[160];      /* in which it stands, or belongs; "": not known */
    char        now[24], to[24];   /* now "": not known, as it stands nowhere */
};
#define MST_FINDING_SETTINGS 4u

struct mst_finding {
    enum mst_code      code;
    enum mst_certainty certainty;
    char     subject[160];      /* a label, pool, backend, other end or program; "": the server */
    char     server[160];       /* of several that the load tool talks to: the one that it is of,
                                 * of several those the one with most of it; "": the run's */
    size_t   servers;           /* that it is of; 0: the run's, or the only one's */
    uint64_t share_milli;       /* thousandths of share_of; MST_UNKNOWN: none */
    enum mst_share_of share_of;
    uint64_t requests;          /* that it concerns; MST_UNKNOWN: not counted */
    char     text[512];         /* a sentence */
    char     action[512];       /* what to do; "": nothing */
    char     predicted[256];    /* what that changes; "": not known */
    size_t   setting_count;     /* 0: the action is none of these, or the configuration not known */
    struct mst_setting settings[MST_FINDING_SETTINGS];
    char     check[64];         /* the command that checks them; "" */
    size_t   number_count;
    struct mst_finding_number numbers[MST_FINDING_NUMBERS];
    uint64_t weight;            /* the order of findings: what it explains, with what follows from
                                 * it; thousandths, and MST_WEIGHT_FIRST before all shares */
};
#define MST_WEIGHT_FIRST 10000u

extern const char *const mst_code_names[MST_CODE_COUNT];
extern const char *const mst_certainty_names[];

/* The code of that name, or MST_CODE_COUNT. */
enum mst_code mst_code_of(const char *name);

/* What would disprove a finding of this code, or tell more. */
const char *mst_code_otherwise(enum mst_code code);

#endif
