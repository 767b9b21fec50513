/* distribution.c - see distribution.h. */
#include "stats/distribution.h"

#include <stddef.h>

/* W. S. Gosset's table; beyond it the normal distribution's quantile and the first term of the
 * expansion around it, which is right to 0.2 %. */
double mst_student_95(double freedom)
{
    static const double t[] = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
        2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
        2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    };
    size_t whole = freedom < 1 ? 1 : freedom > 1000 ? 1000 : (size_t)freedom;

    return whole <= sizeof t / sizeof *t ? t[whole - 1]
                                         : MST_NORMAL_95_BOTH_SIDES + 2.4 / (double)whole;
}
