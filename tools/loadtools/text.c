/* text.c - reading what load tools print and are told: see text.h. */
#include "loadtools/text.h"

#include <string.h>

#include "base/clock.h"
#include "segment/format.h"

#define NUMBER_MAX  (UINT64_C(1) << 53)
#define INTEGER_MAX (UINT64_C(1) << 62)

bool mst_text_is_empty(struct mst_output_text text)
{
    return text.at == text.end;
}

static struct mst_output_text skip_blanks(struct mst_output_text in)
{
    while (in.at < in.end && (*in.at == ' ' || *in.at == '\t'))
        in.at++;
    return in;
}

struct mst_output_text mst_text_line(struct mst_output_text in, const char *name)
{
    size_t n = strlen(name);
    const char *eol;

    for (; in.at < in.end; in.at = eol + 1) {
        struct mst_output_text line;

        eol = memchr(in.at, '\n', (size_t)(in.end - in.at));
        if (eol == NULL)
            break;
        line = skip_blanks((struct mst_output_text){ in.at, eol });
        if ((size_t)(eol - line.at) >= n && memcmp(line.at, name, n) == 0)
            return (struct mst_output_text){ line.at + n, eol };
    }
    return (struct mst_output_text){ in.end, in.end };
}

struct mst_output_text mst_text_from_last(struct mst_output_text in, const char *mark)
{
    size_t n = strlen(mark);
    const char *found = NULL, *at = in.at;

    while (at < in.end && (at = memmem(at, (size_t)(in.end - at), mark, n)) != NULL) {
        if (at == in.at || at[-1] == '\n')
            found = at;
        at++;
    }
    return (struct mst_output_text){ found != NULL ? found : in.end, in.end };
}

struct mst_output_text mst_text_behind(struct mst_output_text in, const char *key)
{
    const char *found = memmem(in.at, (size_t)(in.end - in.at), key, strlen(key));

    return (struct mst_output_text){ found != NULL ? found + strlen(key) : in.end, in.end };
}

/* ---- numbers --------------------------------------------------------------------- */

uint64_t mst_text_number_before(struct mst_output_text in, const char *key)
{
    const char *found = memmem(in.at, (size_t)(in.end - in.at), key, strlen(key)), *from = found;

    while (found != NULL && from > in.at && from[-1] >= '0' && from[-1] <= '9')
        from--;
    return mst_text_number((struct mst_output_text){ from, found }, 1, NULL);
}

struct mst_output_text mst_text_word(struct mst_output_text *in)
{
    struct mst_output_text word;

    *in = skip_blanks(*in);
    word = *in;
    while (in->at < in->end && *in->at != ' ' && *in->at != '\t' && *in->at != '\n')
        in->at++;
    word.end = in->at;
    return word;
}

static bool digit_at(struct mst_output_text in)
{
    return in.at < in.end && *in.at >= '0' && *in.at <= '9';
}

static bool fraction_at(struct mst_output_text in)
{
    struct mst_output_text next = { in.at + 1, in.end };

    return in.at < in.end && (*in.at == '.' || *in.at == ',') && digit_at(next);
}

uint64_t mst_text_number(struct mst_output_text in, uint64_t scale, struct mst_output_text *behind)
{
    uint64_t value = 0;

    in = skip_blanks(in);
    if (!digit_at(in))
        return MST_UNKNOWN;
    for (; digit_at(in); in.at++) {
        value = value * 10 + (uint64_t)(*in.at - '0');
        if (value > NUMBER_MAX)
            return MST_UNKNOWN;
    }
    if (value > NUMBER_MAX / scale)
        return MST_UNKNOWN;
    value *= scale;
    if (fraction_at(in))
        for (in.at++; digit_at(in); in.at++) {
            scale /= 10;
            value += (uint64_t)(*in.at - '0') * scale;
        }
    if (behind != NULL)
        *behind = in;
    return value;
}

struct unit { const char *name; uint64_t size; };

/* The unit at the beginning: the longest name first. NULL: none of these. */
static const struct unit *unit_at(struct mst_output_text in, const struct unit *units)
{
    for (; units->name != NULL; units++) {
        size_t n = strlen(units->name);

        if ((size_t)(in.end - in.at) >= n && memcmp(in.at, units->name, n) == 0)
            return units;
    }
    return NULL;
}

/* How many digits there are behind the point, at most 9, as a power of ten. */
static uint64_t fraction_scale(struct mst_output_text number)
{
    uint64_t scale = 1;

    number = skip_blanks(number);
    while (digit_at(number))
        number.at++;
    if (fraction_at(number))
        for (number.at++; digit_at(number) && scale < MST_NS_PER_S; number.at++)
            scale *= 10;
    return scale;
}

/* A number with its unit. *behind is behind the unit, *step what the last digit is worth. */
static uint64_t number_with_unit(struct mst_output_text in, const struct unit *units, uint64_t bare,
                                 struct mst_output_text *behind, uint64_t *step)
{
    uint64_t scale = fraction_scale(in), value = mst_text_number(in, scale, behind), size = bare;
    const struct unit *unit;

    if (value == MST_UNKNOWN)
        return MST_UNKNOWN;
    unit = unit_at(skip_blanks(*behind), units);
    if (unit != NULL) {
        size = unit->size;
        behind->at = skip_blanks(*behind).at + strlen(unit->name);
    }
    *step = size / scale > 0 ? size / scale : 1;
    if (value / scale > NUMBER_MAX / size)
        return MST_UNKNOWN;
    return value / scale * size + (uint64_t)((unsigned __int128)(value % scale) * size / scale);
}

uint64_t mst_text_time(struct mst_output_text in, uint64_t bare_ns, uint64_t *step_ns)
{
    static const struct unit units[] = {
        { "ns", 1 }, { "us", MST_NS_PER_US }, { "\302\265s", MST_NS_PER_US },
        { "ms", MST_NS_PER_MS }, { "s", MST_NS_PER_S }, { "S", MST_NS_PER_S },
        { "m", 60 * MST_NS_PER_S }, { "M", 60 * MST_NS_PER_S }, { "h", 3600 * MST_NS_PER_S },
        { "H", 3600 * MST_NS_PER_S }, { NULL, 0 },
    };
    uint64_t step, part, total = number_with_unit(in, units, bare_ns, &in, &step);

    while (total != MST_UNKNOWN && digit_at(in)) {
        part = number_with_unit(in, units, bare_ns, &in, &step);
        total = part == MST_UNKNOWN || total + part > NUMBER_MAX * 8 ? MST_UNKNOWN : total + part;
    }
    if (step_ns != NULL)
        *step_ns = total != MST_UNKNOWN ? step : MST_UNKNOWN;
    return total;
}

uint64_t mst_text_bytes(struct mst_output_text in)
{
    static const struct unit units[] = {
        { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "T", UINT64_C(1) << 40 },
        { NULL, 0 },
    };
    uint64_t step;

    return number_with_unit(in, units, 1, &in, &step);
}

/* ---- command lines --------------------------------------------------------------- */

/* What follows the option's name in argv[i]: "" where that is all; NULL: another
 * word. */
static const char *behind_name(const struct mst_option *option, const char *name,
                               const char *word)
{
    size_t n;

    if (option->go && word[0] == '-' && word[1] == '-')
        word++;
    n = strlen(name);
    if (strncmp(word, name, n) != 0)
        return NULL;
    if (word[n] == '\0' || word[n] == '=')
        return word + n;
    return !option->go && n == 2 && name[1] != '-' ? word + n : NULL;   /* "-n20" */
}

const char *mst_option(char *const *argv, const struct mst_option *option)
{
    const char *found = NULL, *behind;
    size_t i, k;

    for (i = 1; argv[0] != NULL && argv[i] != NULL && strcmp(argv[i], "--") != 0; i++)
        for (k = 0; option->names[k] != NULL; k++) {
            behind = behind_name(option, option->names[k], argv[i]);
            if (behind != NULL && behind[0] != '\0')
                found = behind + (behind[0] == '=');
            else if (behind != NULL && argv[i + 1] != NULL)
                found = argv[i + 1];
        }
    return found;
}

bool mst_option_given(char *const *argv, const struct mst_option *option)
{
    const char *behind;
    size_t i, k;

    for (i = 1; argv[0] != NULL && argv[i] != NULL && strcmp(argv[i], "--") != 0; i++)
        for (k = 0; option->names[k] != NULL; k++) {
            behind = behind_name(option, option->names[k], argv[i]);
            if (behind != NULL && (behind[0] == '\0' || behind[0] == '='))
                return true;
        }
    return false;
}

static struct mst_output_text whole(const char *text)
{
    return (struct mst_output_text){ text, text + strlen(text) };
}

uint64_t mst_option_number(char *const *argv, const struct mst_option *option,
                           uint64_t otherwise)
{
    const char *value = mst_option(argv, option);
    uint64_t number = value != NULL ? mst_text_number(whole(value), 1, NULL) : MST_UNKNOWN;

    return number != MST_UNKNOWN ? number : otherwise;
}

uint64_t mst_option_time(char *const *argv, const struct mst_option *option, uint64_t bare_ns,
                         uint64_t otherwise)
{
    const char *value = mst_option(argv, option);
    uint64_t time = value != NULL ? mst_text_time(whole(value), bare_ns, NULL) : MST_UNKNOWN;

    return time != MST_UNKNOWN ? time : otherwise;
}

size_t mst_word(char *const *argv, const char *word)
{
    size_t i;

    for (i = 0; argv[0] != NULL && argv[i + 1] != NULL; i++)
        if (strcmp(argv[i + 1], word) == 0)
            return i + 1;
    return 0;
}

/* ---- rows ------------------------------------------------------------------------ */

/* The text of a quoted field, in place; *line is then behind its end. */
static char *quoted(char **line, char separator)
{
    char *from = *line + 1, *field = from, *to = from;

    for (; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
        *to++ = *from;
        from += *from == '"';
    }
    if (*from == '"')
        from++;
    *line = *from == separator ? from + 1 : NULL;
    *to = '\0';
    return field;
}

char *mst_field(char **line, char separator)
{
    char *field = *line;

    if (field == NULL)
        return NULL;
    if (*field == '"')
        return quoted(line, separator);
    *line = strchr(field, separator);
    if (*line != NULL)
        *(*line)++ = '\0';
    return field;
}

uint64_t mst_field_number(const char *field, uint64_t scale)
{
    struct mst_output_text behind;
    uint64_t value;

    if (field == NULL)
        return MST_UNKNOWN;
    value = mst_text_number(whole(field), scale, &behind);
    return value != MST_UNKNOWN && mst_text_is_empty(behind) ? value : MST_UNKNOWN;
}

uint64_t mst_field_integer(const char *field)
{
    uint64_t value = 0;

    if (field == NULL || *field == '\0')
        return MST_UNKNOWN;
    for (; *field >= '0' && *field <= '9' && value < INTEGER_MAX / 10; field++)
        value = value * 10 + (uint64_t)(*field - '0');
    return *field == '\0' ? value : MST_UNKNOWN;
}
