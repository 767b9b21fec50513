/* number.c - numbers as users write them: see number.h. */
#include "console/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_LEAST 0.001

/* end: behind the number. */
static double number_before(const char *text, const char **end)
{
    char *rest = (char *)text;
    double value = text[0] >= '0' && text[0] <= '9' ? strtod(text, &rest) : NAN;

    *end = rest;
    return value;
}

double mst_number_read(const char *text)
{
    const char *end;
    double value = number_before(text, &end);

    return *end == '\0' ? value : NAN;
}

int mst_rate_read(double *rate, const char *option, const char *text, double most,
                  char error[MST_ERROR_MAX])
{
    const char *end;
    double value = number_before(text, &end);

    if (!(value >= RATE_LEAST && value <= most) || (*end != '\0' && strcmp(end, "/s") != 0))
        return mst_fail(error, "expected --%s to be a rate from %g to %.0f per second, as in "
                        "\"200/s\", found \"%s\"", option, RATE_LEAST, most, text);
    *rate = value;
    return 0;
}
