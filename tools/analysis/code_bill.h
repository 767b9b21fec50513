/* code_bill.h - what PHP's code costs: CPU time and waiting by function, or by component.
 *
 * A sample is on the account of the function that is named of its stack (read/call_place.h): a
 * plugin pays for what a library does for it.
 */
#ifndef MPMSTAT_CODE_BILL_H
#define MPMSTAT_CODE_BILL_H

#include "analysis/php_code.h"
#include "read/component.h"

enum mst_bill_by { MST_BILL_BY_FUNCTION, MST_BILL_BY_COMPONENT };

struct mst_code_account {
    char                  component[MST_COMPONENT_MAX];   /* "": not known */
    const struct mst_php_frame *frame;   /* by component: one with much of it; NULL: none is in a
                                          * file, as in code that PHP calls itself */
    struct mst_code_times times;
    uint64_t              total_ns;
};

struct mst_code_bill {
    struct mst_code_account *accounts;   /* the most expensive first */
    size_t                   count;
    struct mst_code_times    times;      /* of all accounts together */
    uint64_t                 total_ns;
};

/* False: memory ran out. The code must live as long as the bill. Free with mst_code_bill_free(). */
bool mst_code_bill_make(struct mst_code_bill *bill, const struct mst_php_code *code,
                        enum mst_bill_by by);
void mst_code_bill_free(struct mst_code_bill *bill);

/* The account with most of that kind of time; NULL: there is none. */
const struct mst_code_account *mst_code_bill_most(const struct mst_code_bill *bill, unsigned kind);

#endif
