/* distribution.h - quantiles of the distributions that intervals are made with. */
#ifndef MPMSTAT_DISTRIBUTION_H
#define MPMSTAT_DISTRIBUTION_H

/* The standard normal distribution: 95 % lie within +- this. */
#define MST_NORMAL_95_BOTH_SIDES 1.959964

/* Student's t: that part of it (0.95: 95 %) lies within +- this. Degrees of freedom need not be
 * whole: the next lower whole number is taken, 1 below that and 1000 above that. */
double mst_student(double confidence, double freedom);

#endif
