/* code_bill.h - what PHP's code costs: CPU time and waiting by function, by component, by script.
 *
 * A sample is on the account of the function that is named of its stack (read/call_place.h): a
 * plugin pays for what a library does for it. By script it is on that of the outermost file.
 */
#ifndef MPMSTAT_CODE_BILL_H
#define MPMSTAT_CODE_BILL_H

#include "analysis/php_code.h"
#include "read/component.h"

enum mst_bill_by {
    MST_BILL_BY_COMPONENT, MST_BILL_BY_FUNCTION, MST_BILL_BY_SCRIPT, MST_BILLS,
};

struct mst_code_account {
    char                  component[MST_COMPONENT_MAX];   /* "": not known */
    const struct mst_php_frame *frame;   /* by component: one with much of it; by script: one in
                                          * it; NULL: none is in a file, as in code that PHP calls
                                          * itself */
    struct mst_code_times times;
    uint64_t              total_ns;
};

struct mst_code_bill {
    struct mst_code_account *accounts;   /* the most expensive first */
    size_t                   count;
    struct mst_code_times    times;      /* of all accounts together */
    uint64_t                 total_ns;
};

/* The code of a server with the bills that were asked for. It begins as { 0 }. */
struct mst_code_bills {
    int64_t              server_id;      /* 0: none */
    struct mst_php_code  code;
    struct mst_code_bill by[MST_BILLS];  /* for mst_code_bill() */
};

/* Reads the code of a server; does nothing where it is that server's already. False: the archive
 * cannot be read, or memory ran out. Free with mst_code_bills_free() in any case. */
bool mst_code_bills_read(struct mst_code_bills *bills, sqlite3 *db, int64_t server_id);
void mst_code_bills_free(struct mst_code_bills *bills);

/* The bill of the code that was read, made when it is first asked for; NULL: memory ran out. */
const struct mst_code_bill *mst_code_bill(struct mst_code_bills *bills, enum mst_bill_by by);

/* The account with most of that kind of time; NULL: there is none. */
const struct mst_code_account *mst_code_bill_most(const struct mst_code_bill *bill, unsigned kind);

#endif
