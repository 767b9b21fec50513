/* distribution.c - see distribution.h. */
#include "stats/distribution.h"

#include <math.h>

#define FREEDOM_MAX 1000
#define HALVINGS    80     /* of an angle below 2: it is exact to the last bit of a double */

/* The part of Student's t that lies within +- sqrt(freedom) * tan(angle): the finite sums of
 * cosines of Abramowitz and Stegun, 26.7.3 and 26.7.4. */
static double part_within(double angle, unsigned freedom)
{
    double cosine = cos(angle), term = freedom % 2 == 1 ? cosine : 1, sum = 0;
    unsigned i;

    for (i = freedom % 2; i + 2 <= freedom; i += 2) {
        sum += term;
        term *= cosine * cosine * (i + 1) / (i + 2);
    }
    return freedom % 2 == 1 ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double mst_student(double confidence, double freedom)
{
    unsigned whole = freedom < 1 ? 1 : freedom > FREEDOM_MAX ? FREEDOM_MAX : (unsigned)freedom, i;
    double low = 0, high = M_PI / 2, middle;

    for (i = 0; i < HALVINGS; i++) {
        middle = (low + high) / 2;
        if (part_within(middle, whole) < confidence)
            low = middle;
        else
            high = middle;
    }
    return sqrt(whole) * tan(low);
}
