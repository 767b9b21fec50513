/* k6.c - k6: its options and its rows (--out csv=..., and json=... of a load of several instances).
 *
 * k6 writes a line for each of a request's measurements, all with the same time,
 * its end: http_reqs first, then the times of its parts. A request began when it
 * asked for a connection: its end - http_req_duration - http_req_blocked, and the
 * latter includes connecting. Each redirect is a request of its own. A request
 * without an answer has the status 0 and an error_code. Times are as measured, the
 * instants in nanoseconds where mpmstat adds the flag. What it prints at the end is
 * not read: rows say all of it. The columns depend on the script's systemTags. A script
 * that sends X-MPMStat-Id tags the request with the same number, as mpmstat_id.
 *
 * In JSON each measurement is an object on a line, with the same names; its instant is of RFC 3339,
 * in the machine's time zone. Each instance of a load that is divided into execution segments
 * writes a file of its own.
 *
 * Exit status 99 says that a threshold was crossed, and that the test was done.
 *
 * An --out on the command line takes the place of K6_OUT: mpmstat adds none where that would end
 * an output that the user has chosen. Nor does it repeat what K6_OUT says as a flag: a password can
 * be in there, and the archive has the command line.
 */
#include "loadtools/loadtool.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "loadtools/text.h"

#define K6_THRESHOLD_CROSSED 99u
#define K6_GRACE_NS (180 * MST_NS_PER_S)   /* iterations end, setup and teardown */

/* ---- what the user asks of it ---------------------------------------------------- */

/* "FILE" or "fileName=FILE,timeFormat=unix_nano" behind the "csv=" of an --out. */
static const char *user_csv(char *const *argv)
{
    const char *csv = NULL;
    size_t i;

    for (i = 1; argv[0] != NULL && argv[i] != NULL; i++)
        if (strncmp(argv[i], "csv=", 4) == 0)
            csv = argv[i] + 4;
        else if (strncmp(argv[i], "--out=csv=", 10) == 0)
            csv = argv[i] + 10;
    return csv;
}

/* The resolution of the instants that it will write; 0: in a form that is not read. */
static uint64_t instant_step(const char *csv)
{
    static const struct { const char *name; uint64_t step_ns; } formats[] = {
        { "timeFormat=unix_nano", 1 }, { "timeFormat=unix_micro", MST_NS_PER_US },
        { "timeFormat=unix_milli", MST_NS_PER_MS }, { "timeFormat=rfc", 0 },
    };
    size_t i;

    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strstr(csv, formats[i].name) != NULL)
            return formats[i].step_ns;
    return MST_NS_PER_S;
}

/* Takes the user's own file of rows, where it can be read. */
static int use_csv(struct mst_plan *plan, const char *csv, char error[MST_ERROR_MAX])
{
    const char *name = strstr(csv, "fileName="), *end;
    char path[4096];

    name = name != NULL ? name + strlen("fileName=") : csv;
    end = strchrnul(name, name != csv ? ',' : '\0');
    plan->row_start_step_ns = instant_step(csv);
    if (plan->row_start_step_ns == 0 || end == name || (size_t)(end - name) >= sizeof path ||
        (end - name > 3 && memcmp(end - 3, ".gz", 3) == 0))
        return 0;
    snprintf(path, sizeof path, "%.*s", (int)(end - name), name);
    return mst_plan_rows_at(plan, path, error);
}

/* Whether the environment names outputs that k6 will use. */
static bool has_outputs_by_environment(char *const *argv)
{
    static const struct mst_option out = { { "--out", "-o" }, false };
    const char *outputs = getenv("K6_OUT");

    return outputs != NULL && outputs[strspn(outputs, " \t")] != '\0' &&
           mst_option(argv, &out) == NULL;
}

static int prepare_k6(struct mst_plan *plan, char *const *argv, int rows_fd,
                      char error[MST_ERROR_MAX])
{
    static const struct mst_option users = { { "--vus", "-u" }, false };
    static const struct mst_option duration = { { "--duration", "-d" }, false };
    char csv[80];
    const char *const insert[] = { "--out", csv, NULL }, *own = user_csv(argv);
    size_t run = mst_word(argv, "run");
    bool outputs = has_outputs_by_environment(argv);
    bool add = rows_fd >= 0 && run > 0 && own == NULL && !outputs;
    uint64_t duration_ns = mst_option_time(argv, &duration, MST_NS_PER_S, 0);

    snprintf(csv, sizeof csv, "csv=fileName=/dev/fd/%d,timeFormat=unix_nano", rows_fd);
    if (mst_plan_init(plan, argv, run, add ? insert : NULL, error) != 0)
        return -1;
    plan->rows = add ? MST_ROWS_IN_FD : MST_ROWS_NONE;
    if (outputs && rows_fd >= 0)
        plan->why_not_added = "K6_OUT names its outputs: name them with --out in the command, and "
                              "mpmstat adds its own";
    plan->row_start_step_ns = plan->row_time_step_ns = 1;
    plan->stop_signal = SIGINT;
    plan->unhappy_status = K6_THRESHOLD_CROSSED;
    plan->concurrency = mst_option_number(argv, &users, MST_UNKNOWN);
    if (duration_ns > 0)
        plan->timeout_ns = duration_ns + K6_GRACE_NS;
    return own != NULL ? use_csv(plan, own, error) : 0;
}

/* ---- its rows -------------------------------------------------------------------- */

enum column { METRIC, INSTANT, VALUE, STATUS, ERROR_CODE, EXTRA_TAGS, COLUMNS };

static int read_k6_header(struct mst_row_reader *reader, char *line, char error[MST_ERROR_MAX])
{
    static const char *const names[COLUMNS] = {
        [METRIC] = "metric_name", [INSTANT] = "timestamp", [VALUE] = "metric_value",
        [STATUS] = "status", [ERROR_CODE] = "error_code", [EXTRA_TAGS] = "extra_tags",
    };
    char *field;
    size_t i, at;

    /* A metric's declaration comes first, before any measurement. */
    reader->is_json = line[0] == '{';
    reader->said.start_step_ns = reader->is_json ? 1 : 0;
    if (reader->is_json)
        return 0;
    for (i = 0; i < COLUMNS; i++)
        reader->columns[i] = SIZE_MAX;
    for (at = 0; (field = mst_field(&line, ',')) != NULL; at++)
        for (i = 0; i < COLUMNS; i++)
            if (strcmp(field, names[i]) == 0)
                reader->columns[i] = at;
    if (reader->columns[METRIC] != SIZE_MAX && reader->columns[INSTANT] != SIZE_MAX &&
        reader->columns[VALUE] != SIZE_MAX)
        return 0;
    return mst_fail(error, "the file of rows is not what k6 --out csv= writes: its first line "
                    "should begin with \"metric_name,timestamp,metric_value\"");
}

/* "2026-11-23T04:45:00.123456789+01:00" */
static uint64_t rfc3339_ns(const char *text)
{
    struct tm tm = { 0 };
    uint64_t ns = 0, digit = MST_NS_PER_S / 10;
    unsigned hours = 0, minutes = 0;
    int n = 0;
    time_t at;

    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
               &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &n) != 6)
        return MST_UNKNOWN;
    text += n;
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, digit /= 10)
            ns += (uint64_t)(*text - '0') * digit;
    if (*text != 'Z' && ((*text != '+' && *text != '-') ||
                         sscanf(text + 1, "%2u:%2u", &hours, &minutes) != 2))
        return MST_UNKNOWN;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    at = timegm(&tm) + (*text == '-' ? 1 : -1) * (time_t)(hours * 3600 + minutes * 60);
    return at >= 0 ? (uint64_t)at * MST_NS_PER_S + ns : MST_UNKNOWN;
}

/* Its unit shows by its size. */
static uint64_t instant_ns(const char *field, uint64_t *step_ns)
{
    uint64_t instant = mst_field_integer(field), unit = MST_NS_PER_S;

    if (instant == MST_UNKNOWN) {
        *step_ns = 1;
        return field != NULL && strchr(field, 'T') != NULL ? rfc3339_ns(field) : MST_UNKNOWN;
    }
    for (; unit > 1 && instant > UINT64_C(100000000000) * (MST_NS_PER_S / unit); unit /= 1000)
        ;
    *step_ns = unit;
    return instant <= UINT64_MAX / 2 / unit ? instant * unit : MST_UNKNOWN;
}

/* See "Error codes" in k6's documentation. */
static enum mst_failure failure_of(const char *code)
{
    uint64_t number = mst_field_integer(code);

    if (number == 1050 || number == 1211)
        return MST_FAILURE_TIMEOUT;
    if (number == 1220 || number == 1221)   /* reset by the peer, broken pipe */
        return MST_FAILURE_RECEIVE;
    if (number != MST_UNKNOWN && number >= 1100 && number < 1220)
        return MST_FAILURE_CONNECT;
    return MST_FAILURE_OTHER;
}

/* "mpmstat_id=NUMBER" among "tag=value&tag=value" */
static uint64_t client_id_of(const char *tags)
{
    static const char name[] = "mpmstat_id=";
    char number[24];

    while (tags != NULL && strncmp(tags, name, sizeof name - 1) != 0) {
        tags = strchr(tags, '&');
        if (tags != NULL)
            tags++;
    }
    if (tags == NULL)
        return MST_UNKNOWN;
    tags += sizeof name - 1;
    snprintf(number, sizeof number, "%.*s", (int)strcspn(tags, "&"), tags);
    return mst_field_integer(number);
}

/* The row gathered so far, which is complete now. */
static int finish_row(struct mst_row_reader *reader, struct mst_client_row *row)
{
    if (!reader->has_row)
        return 0;
    reader->has_row = false;
    *row = reader->row;
    if (row->duration_ns > row->start_ns)
        return -1;
    row->start_ns -= row->duration_ns;   /* it was the end */
    return 1;
}

static int begin_row(struct mst_row_reader *reader, struct mst_client_row *row,
                     char *const fields[COLUMNS])
{
    uint64_t end_ns = instant_ns(fields[INSTANT], &reader->said.start_step_ns);
    uint64_t status = mst_field_integer(fields[STATUS]);
    int made = finish_row(reader, row);

    if (end_ns == MST_UNKNOWN)
        return -1;
    reader->row = (struct mst_client_row){
        .start_ns = end_ns, .connect_ns = 0, .wait_ns = MST_UNKNOWN, .status = status,
        .failure = failure_of(fields[ERROR_CODE]),
        .client_id = reader->is_json ? mst_field_integer(fields[EXTRA_TAGS])
                                     : client_id_of(fields[EXTRA_TAGS]),
    };
    reader->has_row = true;
    return made;
}

static int add_to_row(struct mst_row_reader *reader, const char *metric, const char *value)
{
    uint64_t ns = mst_field_number(value, MST_NS_PER_MS);   /* milliseconds */
    struct mst_client_row *row = &reader->row;

    if (ns == MST_UNKNOWN)
        return -1;
    if (strcmp(metric, "duration") == 0 || strcmp(metric, "blocked") == 0)
        row->duration_ns += ns;
    else if (strcmp(metric, "connecting") == 0 || strcmp(metric, "tls_handshaking") == 0)
        row->connect_ns += ns;
    else if (strcmp(metric, "waiting") == 0)
        row->wait_ns = ns;
    return 0;
}

/* The end of a JSON string or number. */
static char *value_end(char *value)
{
    for (; *value != '\0' && *value != '"' && *value != ',' && *value != '}'; value++)
        if (*value == '\\' && value[1] != '\0')
            value++;
    return value;
}

/* Finds the members that are needed, and ends each. A name in quotes is not a part of a string:
 * there, a backslash stands before each quote. */
static void fields_of_json(char *fields[COLUMNS], char *line)
{
    static const char *const names[COLUMNS] = {
        [METRIC] = "\"metric\":\"", [INSTANT] = "\"time\":\"", [VALUE] = "\"value\":",
        [STATUS] = "\"status\":\"", [ERROR_CODE] = "\"error_code\":\"",
        [EXTRA_TAGS] = "\"mpmstat_id\":\"",
    };
    char *ends[COLUMNS] = { NULL };
    size_t i;

    for (i = 0; i < COLUMNS; i++) {
        fields[i] = strstr(line, names[i]);
        if (fields[i] == NULL)
            continue;
        fields[i] += strlen(names[i]);
        ends[i] = value_end(fields[i]);
    }
    for (i = 0; i < COLUMNS; i++)
        if (ends[i] != NULL)
            *ends[i] = '\0';
}

static bool is_point(const char *line)
{
    return strstr(line, "\"type\":\"Point\"") != NULL;
}

static void fields_of_csv(char *fields[COLUMNS], const struct mst_row_reader *reader, char *line)
{
    char *field;
    size_t at, i;

    for (at = 0; (field = mst_field(&line, ',')) != NULL; at++)
        for (i = 0; i < COLUMNS; i++)
            if (reader->columns[i] == at)
                fields[i] = field;
}

/* k6 counts once a second. vus_max is how many there are, those that wait for work among them. */
static void read_users(struct mst_rows_said *said, const char *metric, const char *value)
{
    uint64_t n;

    if (strcmp(metric, "iteration_duration") == 0) {
        n = mst_field_number(value, MST_NS_PER_MS);
        said->iterations_ns += n != MST_UNKNOWN ? n : 0;
        return;
    }
    n = mst_field_number(value, 1);
    if ((strcmp(metric, "vus") != 0 && strcmp(metric, "vus_max") != 0) || n == MST_UNKNOWN)
        return;
    said->users_least = !said->counts_users || n < said->users_least ? n : said->users_least;
    said->users_most = n > said->users_most ? n : said->users_most;
    said->counts_users = true;
}

static int read_k6_row(struct mst_row_reader *reader, struct mst_client_row *row, char *line)
{
    static const char part[] = "http_req_";
    char *fields[COLUMNS] = { NULL };
    uint64_t dropped;

    if (line == NULL)
        return finish_row(reader, row);
    if (reader->is_json && !is_point(line))
        return line[0] == '{' ? 0 : -1;
    if (reader->is_json)
        fields_of_json(fields, line);
    else
        fields_of_csv(fields, reader, line);
    if (fields[METRIC] == NULL || fields[INSTANT] == NULL || fields[VALUE] == NULL)
        return -1;
    if (strcmp(fields[METRIC], "dropped_iterations") == 0) {
        dropped = mst_field_number(fields[VALUE], 1);
        reader->said.dropped += dropped != MST_UNKNOWN ? dropped : 0;
    }
    read_users(&reader->said, fields[METRIC], fields[VALUE]);
    if (strcmp(fields[METRIC], "http_reqs") == 0)
        return begin_row(reader, row, fields);
    if (reader->has_row && strncmp(fields[METRIC], part, sizeof part - 1) == 0)
        return add_to_row(reader, fields[METRIC] + sizeof part - 1, fields[VALUE]);
    return 0;
}

static const struct mst_level_flag level_flags[] = {
    { { { "--vus", "-u" }, false }, "{clients}", 0 },
    { { { "--duration", "-d" }, false }, "{seconds}s", 0 },
    { { { "--iterations", "-i" }, false }, NULL, 0 },
    { .value = NULL },
};

const struct mst_loadtool mst_loadtool_k6 = {
    .name = "k6",
    .version_flag = "version",
    .follows_redirects = true,
    .failure_mark = " error=\"",
    .level_flags = level_flags,
    .level_word = "run",
    .prepare = prepare_k6,
    .read_header = read_k6_header,
    .read_row = read_k6_row,
};
