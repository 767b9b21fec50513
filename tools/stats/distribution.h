/* distribution.h - quantiles of the distributions that intervals are made with. */
#ifndef MPMSTAT_DISTRIBUTION_H
#define MPMSTAT_DISTRIBUTION_H

/* The standard normal distribution: 95 % lie within +- this. */
#define MST_NORMAL_95_BOTH_SIDES 1.959964

/* Student's t: 95 % lie within +- this. Degrees of freedom need not be whole: the next lower
 * whole number is taken, and 1 below that. */
double mst_student_95(double freedom);

#endif
