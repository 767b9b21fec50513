/* finding.h - what an analysis found: one cause, with its evidence and what to do about it.
 *
 * The codes are promises (JSON, archives, --fail-on); analysis/codes.def documents them. The
 * rules that make findings are in findings/.
 */
#ifndef MPMSTAT_FINDING_H
#define MPMSTAT_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/ledger.h"

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

enum mst_answer { MST_ANSWER_NO, MST_ANSWER_YES, MST_ANSWER_UNKNOWN };

/* A value of the server's configuration that an action changes. The names are promises (JSON). */
struct mst_setting {
    char     name[40];          /* the directive as the file has it, or FPM's key */
    char     section[64];       /* FPM's pool, or "global"; "": Apache has none */
    char     file[256];         /* in which it stands, or is to be added */
    uint64_t line;              /* where it stands; MST_UNKNOWN: in no file */
    char     now[64], to[64];   /* now: what the server takes where it stands nowhere */
};
#define MST_CHANGE_SETTINGS 5u

/* All of them go together: the server accepts them with what else its configuration has. */
struct mst_changes {
    size_t   count;             /* 0: the action is none of these, or the files are not known */
    struct mst_setting settings[MST_CHANGE_SETTINGS];
    bool     restart;           /* a reload is not enough: it takes a stop and a start */
    char     check[512];        /* the command that tests the files; "": not known */
};
#define MST_ACTION_MAX 1280u    /* with the names of all these files */
#define MST_PREDICTED_MAX 448u  /* three measures with intervals, and the name of an end */

struct mst_summary_server;
#define MST_SUBJECT_MAX 160u

/* The finding that another one follows from. */
struct mst_cause {
    bool          known;        /* false: it follows from no other one */
    enum mst_code code;
    char          subject[MST_SUBJECT_MAX];
};

/* The part of the run in which nearly all of it was. */
struct mst_when {
    bool     known;             /* false: all of the run, or it is not known */
    uint64_t from_ns, until_ns;   /* instants */
};

/* Where in PHP's code most of it was. function "": not known. */
struct mst_finding_place {
    char     function[96], file[136], component[136];
    uint64_t line;
    uint64_t share_milli;       /* thousandths of the time that the finding is about */
    uint64_t calls_milli;       /* thousandths of calls from there in a request; MST_UNKNOWN */
};

struct mst_finding {
    enum mst_code      code;
    enum mst_certainty certainty;
    /* A label, pool, backend, other end or program; "": the server. */
    char     subject[MST_SUBJECT_MAX];
    struct mst_cause caused_by;
    struct mst_when  when;
    char     server[160];       /* of several that the load tool talks to: the one that it is of,
                                 * of several those the one with most of it; "": the run's */
    const struct mst_summary_server *of;   /* whose settings the action is about; NULL: Apache's */
    size_t   servers;           /* that it is of; 0: the run's, or the only one's */
    uint64_t share_milli;       /* thousandths of share_of; MST_UNKNOWN: none */
    enum mst_share_of share_of;
    uint64_t requests;          /* that it concerns; MST_UNKNOWN: not counted */
    struct mst_finding_place place;
    char     text[512];         /* a sentence */
    char     action[MST_ACTION_MAX];   /* what to do; "": nothing */
    char     predicted[MST_PREDICTED_MAX];    /* what that changes; "": not known */
    struct mst_ledger_entry ledger;    /* the same for an archive; no settings: there is nothing
                                        * that an archive keeps */
    struct mst_changes changes; /* what of the action a program can do */
    size_t   number_count;
    struct mst_finding_number numbers[MST_FINDING_NUMBERS];
    uint64_t weight;            /* the order of findings: what it explains, with what follows from
                                 * it; thousandths, and MST_WEIGHT_FIRST before all shares */
};
#define MST_WEIGHT_FIRST 10000u
#define MST_HEADLINE_MAX 800u   /* a finding's text, and what follows from it */

/* The figure of that name; MST_UNKNOWN: the finding has none. */
uint64_t mst_finding_number(const struct mst_finding *f, const char *name);
/* The same of a figure that answers a question. Of a finding without it the answer is no. */
enum mst_answer mst_finding_answer(const struct mst_finding *f, const char *name);
#define MST_ONE_AT_A_TIME "one_at_a_time"   /* what requests waited for let in one at a time */

extern const char *const mst_code_names[MST_CODE_COUNT];
/* "failed", "ran out", ...: in codes.def's order. */
extern const char *const mst_code_groups[MST_CODE_COUNT];
extern const char *const mst_certainty_names[];

/* The code of that name, or MST_CODE_COUNT. */
enum mst_code mst_code_of(const char *name);

/* Whether it says that requests failed, and not what made them slow. */
bool mst_code_is_failure(enum mst_code code);
/* Whether it says that something ran out: workers, CPUs, a queue. */
bool mst_code_ran_out(enum mst_code code);

/* "follows from php-workers (shop)"; "" where it follows from none. */
#define MST_CAUSE_WORDS_MAX 256u
void mst_cause_words(char words[MST_CAUSE_WORDS_MAX], const struct mst_cause *cause);

/* What would disprove a finding of this code, or tell more. */
const char *mst_code_otherwise(enum mst_code code);

#endif
