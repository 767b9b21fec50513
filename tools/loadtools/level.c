/* level.c - see level.h. */
#include "loadtools/level.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strings.h"
#include "loadtools/loadtool.h"
#include "loadtools/text.h"

#define CLIENTS "{clients}"
#define RATE    "{rate}"
#define SECONDS "{seconds}"
#define THREADS "{threads}"
#define EQUAL_THREADS "{equal-threads}"
#define FD_PATH "/dev/fd/"
#define FLAGS_MAX 8u         /* that an adapter sets */
#define TRIED   7u           /* a load to try whether a command takes it */

/* ---- open places ----------------------------------------------------------------- */

static bool has_place(char *const *words, const char *place)
{
    for (; *words != NULL; words++)
        if (strstr(*words, place) != NULL)
            return true;
    return false;
}

/* As many threads as the command wants, and as have equal numbers of the clients. */
static uint64_t equal_threads(uint64_t wanted, uint64_t clients)
{
    uint64_t threads = wanted < clients ? wanted : clients;

    while (threads > 1 && clients % threads != 0)
        threads--;
    return threads;
}

/* What stands in the place at which the text begins, and how long its name is; 0: none is there. */
static size_t value_at(const char *text, const struct mst_level_command *c, uint64_t level,
                       uint64_t seconds, uint64_t *value)
{
    const struct { const char *place; uint64_t value; } places[] = {
        { CLIENTS, level }, { RATE, level }, { SECONDS, seconds },
        { THREADS, c->threads < level ? c->threads : level },
        { EQUAL_THREADS, equal_threads(c->threads, level) },
    };
    size_t i;

    for (i = 0; i < sizeof places / sizeof *places; i++)
        if (strncmp(text, places[i].place, strlen(places[i].place)) == 0) {
            *value = places[i].value;
            return strlen(places[i].place);
        }
    return 0;
}

static void add_filled(struct mst_strings *words, const char *text,
                       const struct mst_level_command *c, uint64_t level, uint64_t seconds)
{
    char *filled = NULL;
    size_t size = 0, length;
    FILE *out = open_memstream(&filled, &size);
    uint64_t value;

    if (out == NULL) {
        words->failed = true;
        return;
    }
    while (*text != '\0') {
        length = value_at(text, c, level, seconds, &value);
        if (length > 0)
            fprintf(out, "%" PRIu64, value);
        else
            fputc(*text, out);
        text += length > 0 ? length : 1;
    }
    if (fclose(out) != 0)
        words->failed = true;
    else
        mst_strings_add(words, filled);
    free(filled);
}

char **mst_level_words(const struct mst_level_command *c, uint64_t level, uint64_t seconds)
{
    struct mst_strings words = { 0 };
    size_t i;

    for (i = 0; c->words[i] != NULL; i++)
        add_filled(&words, c->words[i], c, level, seconds);
    return mst_strings_steal(&words);
}

/* ---- the adapter's flags --------------------------------------------------------- */

/* How many words of argv at `word` are one of the flags that the adapter sets, with its value; 0:
 * none is. */
static size_t words_of_flag(const struct mst_level_flag *flags, char *const *word)
{
    char *const one[] = { word[0], word[0], NULL };
    char *const two[] = { word[0], word[0], word[1], NULL };

    for (; flags->option.names[0] != NULL; flags++) {
        bool takes_value = flags->value == NULL || flags->value[0] != '\0';

        if (takes_value && mst_option(one, &flags->option) != NULL)
            return 1;
        if (!takes_value && mst_option_given(one, &flags->option))
            return 1;
        if (takes_value && word[1] != NULL && mst_option(two, &flags->option) == word[1])
            return 2;
    }
    return 0;
}

/* Whether the adapter sets the flag: not where the command has the flag's place itself. */
static bool is_set(const struct mst_level_flag *flag, char *const *argv, bool has_load)
{
    if (flag->value == NULL)
        return true;
    if (strstr(flag->value, CLIENTS) != NULL || strstr(flag->value, RATE) != NULL)
        return !has_load;
    return strstr(flag->value, SECONDS) == NULL || !has_place(argv, SECONDS);
}

/* The flags that are set, without those that the command keeps as it has them. */
static size_t choose_flags(struct mst_level_flag *chosen, size_t room,
                           const struct mst_level_flag *flags, char *const *argv, bool has_load)
{
    size_t count = 0;

    for (; flags->option.names[0] != NULL && count + 1 < room; flags++)
        if (is_set(flags, argv, has_load))
            chosen[count++] = *flags;
    chosen[count] = (struct mst_level_flag){ .value = NULL };
    return count;
}

static void name_set(struct mst_level_command *c, const struct mst_level_flag *flags,
                     struct mst_strings *words)
{
    char text[128] = "";
    size_t used = 0;

    for (; flags->option.names[0] != NULL; flags++)
        if (flags->value != NULL && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                     used > 0 ? ", " : "", flags->option.names[0]);
    c->set = used > 0 ? strdup(text) : NULL;
    words->failed = words->failed || (used > 0 && c->set == NULL);
}

/* Puts the flags behind argv[at], and leaves out those that the command has. */
static void set_flags(struct mst_level_command *c, const struct mst_level_flag *flags,
                      char *const *argv, size_t at)
{
    struct mst_strings words = { 0 };
    const struct mst_level_flag *flag;
    size_t i, taken;

    for (flag = flags; flag->option.names[0] != NULL; flag++)
        if (flag->otherwise > 0)
            c->threads = mst_option_number(argv, &flag->option, flag->otherwise);
    for (i = 0; argv[i] != NULL; i += taken) {
        taken = i > at ? words_of_flag(flags, argv + i) : 0;
        if (taken == 0)
            mst_strings_add(&words, argv[i]);
        taken = taken > 0 ? taken : 1;
        for (flag = flags; i == at && flag->option.names[0] != NULL; flag++)
            if (flag->value != NULL) {
                mst_strings_add(&words, flag->option.names[0]);
                if (flag->value[0] != '\0')
                    mst_strings_add(&words, flag->value);
            }
    }
    name_set(c, flags, &words);
    c->words = mst_strings_steal(&words);
}

/* ---- opening --------------------------------------------------------------------- */

/* Tries one load: the command can have the flag in a form that is not seen here ("-kc10"). */
static int check_taken(const struct mst_level_command *c, const struct mst_loadtool *tool,
                       char error[MST_ERROR_MAX])
{
    char **words = mst_level_words(c, TRIED, 1);
    struct mst_plan plan = { 0 };
    int result = -1;

    if (words == NULL)
        return mst_fail(error, "out of memory for the command");
    if (tool->prepare(&plan, words, -1, error) == 0) {
        result = 0;
        if (!c->by_rate && plan.connections != MST_UNKNOWN && plan.connections != TRIED)
            result = mst_fail(error, "%s would not have as many clients as mpmstat sets: the "
                              "command says another number of them itself. Leave that out",
                              tool->name);
        mst_plan_free(&plan);
    }
    mst_strings_free_items(words);
    return result;
}

static int check_places(char *const *argv, bool by_clients, bool by_rate,
                        const struct mst_loadtool *tool, char error[MST_ERROR_MAX])
{
    if (by_clients && by_rate)
        return mst_fail(error, "the command has {clients} and {rate}: one of them is raised, and "
                        "the other one is to be a number");
    if (by_clients || by_rate)
        return 0;
    if (tool->level_flags == NULL)
        return mst_fail(error, "mpmstat does not know how %.100s is told its load: write {clients} "
                        "or {rate} where the command has that number, and {seconds} where it has "
                        "its duration, as in '%.100s -c {clients} -d {seconds}'", argv[0], argv[0]);
    if (tool->level_word != NULL && mst_word(argv, tool->level_word) == 0)
        return mst_fail(error, "expected \"%s %s\", or {clients} or {rate} where the command has "
                        "the number to be raised", tool->name, tool->level_word);
    return 0;
}

int mst_level_command_make(struct mst_level_command *c, char *const *argv,
                           char error[MST_ERROR_MAX])
{
    static const struct mst_level_flag none[] = { { .value = NULL } };
    const struct mst_loadtool *tool = mst_loadtool_for(argv[0]);
    const struct mst_level_flag *flags = tool->level_flags != NULL ? tool->level_flags : none;
    bool by_clients = has_place(argv, CLIENTS), by_rate = has_place(argv, RATE);
    struct mst_level_flag chosen[FLAGS_MAX];
    size_t at, i;

    *c = (struct mst_level_command){
        .by_rate = by_rate, .threads = 1,
        .most = tool->clients_most > 0 ? tool->clients_most : MST_UNKNOWN,
    };
    if (check_places(argv, by_clients, by_rate, tool, error) != 0)
        return -1;
    at = tool->level_word != NULL ? mst_word(argv, tool->level_word) : 0;
    choose_flags(chosen, sizeof chosen / sizeof *chosen, flags, argv, by_clients || by_rate);
    for (i = 0; chosen[i].option.names[0] != NULL; i++)
        c->by_rate = c->by_rate || (chosen[i].value != NULL &&
                                    strstr(chosen[i].value, RATE) != NULL);
    set_flags(c, chosen, argv, at);
    if (c->words == NULL)
        return mst_fail(error, "out of memory for the command");
    return check_taken(c, tool, error);
}

void mst_level_command_free(struct mst_level_command *c)
{
    mst_strings_free_items(c->words);
    free(c->set);
    *c = (struct mst_level_command){ .words = NULL };
}

/* ---- was it this command? -------------------------------------------------------- */

/* Descriptors have another number each time. */
static bool is_same_word(const char *a, const char *b)
{
    const char *fd = strstr(a, FD_PATH);

    return strcmp(a, b) == 0 ||
           (fd != NULL && strncmp(a, b, (size_t)(fd - a) + strlen(FD_PATH)) == 0);
}

static bool are_same(char *const *a, char *const *b)
{
    for (; *a != NULL && *b != NULL; a++, b++)
        if (!is_same_word(*a, *b))
            return false;
    return *a == *b;
}

bool mst_level_was(const struct mst_level_command *c, uint64_t level, uint64_t seconds,
                   char *const *words)
{
    char **plain = mst_level_words(c, level, seconds), ignored[MST_ERROR_MAX];
    struct mst_plan plan = { 0 };
    bool same = false;

    if (plain == NULL)
        return false;
    if (mst_loadtool_for(plain[0])->prepare(&plan, plain, STDERR_FILENO, ignored) == 0) {
        same = are_same(plan.argv, words);
        mst_plan_free(&plan);
    }
    mst_strings_free_items(plain);
    return same;
}
