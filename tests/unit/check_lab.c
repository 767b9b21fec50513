/* check_lab.c - the lab's text files, variables, stacks and directories. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "lab/files/expand.h"
#include "lab/files/stack.h"
#include "lab/files/textfile.h"
#include "lab/servers/packages.h"
#include "lab/servers/sandbox.h"
#include "lab/servers/site.h"

/* ---- text files ------------------------------------------------------------------- */

static void parse(struct mst_text *text, const char *bytes)
{
    char error[MST_ERROR_MAX] = "";

    ck_assert_msg(mst_text_parse(memory_of_test(), text, "t.stack", bytes, strlen(bytes),
                                 error) == 0, "%s", error);
}

static void expect_parse_error(const char *bytes, size_t length, const char *part)
{
    char error[MST_ERROR_MAX] = "";
    struct mst_text text;

    ck_assert_int_ne(mst_text_parse(memory_of_test(), &text, "t.stack", bytes, length, error), 0);
    ck_assert_msg(strstr(error, part) != NULL, "expected \"%s\" in: %s", part, error);
}

START_TEST(test_sections)
{
    struct mst_text text;

    parse(&text, "# About it,\n#\n\n# in two lines.\n%% stack\na = 1\n\n"
          "%% file dir/x.sh mode=0755 owner=TENANT_A\n#!/bin/sh\n  $x %% no section\n"
          "%% teardown\n");
    ck_assert_str_eq(text.about, "About it,\n\nin two lines.\n");
    ck_assert_uint_eq(text.count, 3);
    ck_assert_str_eq(text.sections[0].kind, "stack");
    ck_assert_str_eq(text.sections[0].name, "");
    ck_assert_str_eq(text.sections[0].body, "a = 1\n\n");
    ck_assert_uint_eq(text.sections[0].line, 5);
    ck_assert_str_eq(text.sections[1].name, "dir/x.sh");
    ck_assert_str_eq(text.sections[1].body, "#!/bin/sh\n  $x %% no section\n");
    ck_assert_str_eq(mst_section_word(&text.sections[1], "mode"), "0755");
    ck_assert_str_eq(mst_section_word(&text.sections[1], "owner"), "TENANT_A");
    ck_assert_ptr_null(mst_section_word(&text.sections[1], "mod"));
    ck_assert_str_eq(text.sections[2].body, "");
    ck_assert_ptr_eq(mst_text_find(&text, "file", NULL), &text.sections[1]);
    ck_assert_ptr_null(mst_text_find(&text, "file", "other"));
}
END_TEST

START_TEST(test_last_line_without_newline)
{
    struct mst_text text;

    parse(&text, "%% stack\na = 1");
    ck_assert_str_eq(text.sections[0].body, "a = 1\n");
    ck_assert_str_eq(text.contents, "%% stack\na = 1");
    parse(&text, "");
    ck_assert_uint_eq(text.count, 0);
}
END_TEST

static const struct { const char *bytes, *error; } bad_texts[] = {
    { "text\n%% stack\n", "t.stack:1: expected a comment (#) or a section" },
    { "\n%%stack\n",
      "t.stack:2: expected a space and a section's kind after %%, found \"stack\"" },
    { "%% stack\n%% \n", "t.stack:2: expected a section's kind" },
    { "%% stack\na = \001\n", "t.stack:2: expected text, found a byte 0x01" },
    { "%% stack\r\n", "t.stack:1: expected lines that end with a newline alone" },
    { "%% file \"x\n", "t.stack:1: a quote that begins here does not end" },
};

START_TEST(test_bad_text)
{
    expect_parse_error(bad_texts[_i].bytes, strlen(bad_texts[_i].bytes), bad_texts[_i].error);
}
END_TEST

START_TEST(test_too_large)
{
    char *bytes = calloc(1, MST_TEXT_MAX + 1), error[MST_ERROR_MAX];
    struct mst_text text;

    memset(bytes, '\n', MST_TEXT_MAX + 1);
    ck_assert_int_eq(mst_text_parse(memory_of_test(), &text, "t.stack", bytes, MST_TEXT_MAX,
                                    error), 0);
    expect_parse_error(bytes, MST_TEXT_MAX + 1, "at most 65536 bytes, found 65537");
    free(bytes);
}
END_TEST

/* ---- facts and rows --------------------------------------------------------------- */

START_TEST(test_facts)
{
    struct mst_text text;
    struct mst_facts facts;
    char error[MST_ERROR_MAX];
    bool flag;

    parse(&text, "%% x\n# a comment\nA = 1 2   # said of A\n    3\nURL=http://h/#top\n"
          "EMPTY =\nyes = yes\nno = no\nodd = maybe\n");
    ck_assert_int_eq(mst_facts_read(&facts, &text, &text.sections[0], error), 0);
    ck_assert_uint_eq(facts.count, 6);
    ck_assert_str_eq(mst_facts_value(&facts, "A", "none"), "1 2 3");
    ck_assert_str_eq(mst_facts_find(&facts, "A")->comment, "said of A");
    ck_assert_uint_eq(mst_facts_find(&facts, "URL")->line, 5);
    ck_assert_str_eq(mst_facts_value(&facts, "URL", "none"), "http://h/#top");
    ck_assert_str_eq(mst_facts_value(&facts, "EMPTY", "none"), "");
    ck_assert_str_eq(mst_facts_value(&facts, "B", "none"), "none");
    ck_assert(mst_facts_flag(&facts, "yes", &flag, error) == 0 && flag);
    ck_assert(mst_facts_flag(&facts, "no", &flag, error) == 0 && !flag);
    ck_assert(mst_facts_flag(&facts, "B", &flag, error) == 0 && !flag);
    ck_assert_int_ne(mst_facts_flag(&facts, "odd", &flag, error), 0);
    ck_assert_str_eq(error, "t.stack:9: expected odd = yes or odd = no, found \"maybe\"");
    ck_assert_ptr_null(mst_facts_need(&facts, "EMPTY", error));
    ck_assert_str_eq(error, "t.stack:6: expected EMPTY = ... in this section, found nothing "
                     "after the =");
    ck_assert_ptr_null(mst_facts_need(&facts, "B", error));
    ck_assert_int_ne(mst_facts_expect(&facts, (const char *const[]){ "A", "URL", NULL }, error), 0);
    ck_assert_str_eq(error, "t.stack:6: expected one of A, URL, found \"EMPTY\"");
}
END_TEST

static const struct { const char *bytes, *error; } bad_facts[] = {
    { "%% x\nA 1\n", "t.stack:2: expected key = value, found \"A 1\"" },
    { "%% x\n = 1\n", "t.stack:2: expected key = value; a line that begins with white space" },
    { "%% x\n\nA = 1\nA = 2\n", "t.stack:4: A is set a second time: it stands in line 3" },
    { "%% x\nA B = 1\n", "t.stack:2: expected one word before the =, found \"A B\"" },
};

START_TEST(test_bad_facts)
{
    struct mst_text text;
    struct mst_facts facts;
    char error[MST_ERROR_MAX];

    parse(&text, bad_facts[_i].bytes);
    ck_assert_int_ne(mst_facts_read(&facts, &text, &text.sections[0], error), 0);
    ck_assert_msg(strstr(error, bad_facts[_i].error) == error, "%s", error);
}
END_TEST

START_TEST(test_rows)
{
    struct mst_text text;
    struct mst_rows rows;
    char error[MST_ERROR_MAX];

    parse(&text, "%% t\nname  value # columns\n\n\"two words\" \"\"\n  a b\n%% u\na b\nc\n");
    ck_assert_int_eq(mst_table_read(&rows, &text, &text.sections[0], error), 0);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_uint_eq(rows.items[1].line, 4);
    ck_assert_str_eq(rows.items[1].words[0], "two words");
    ck_assert_str_eq(rows.items[1].words[1], "");
    ck_assert_ptr_null(rows.items[2].words[2]);
    ck_assert_int_ne(mst_table_read(&rows, &text, &text.sections[1], error), 0);
    ck_assert_str_eq(error, "t.stack:8: expected 2 words as in line 7, which names the columns, "
                     "found 1");
}
END_TEST

/* ---- variables -------------------------------------------------------------------- */

START_TEST(test_expand)
{
    struct mst_parameters v = { .pool = memory_of_test() };
    char error[MST_ERROR_MAX], *text;

    mst_parameters_set(&v, "A", "1");
    ck_assert_int_eq(mst_parameters_assign(&v, "LONG_2=x=${A}", error), 0);
    text = mst_expand(&v, "f", 10, "$A ${A}${A}; $${LONG_2} ${lower} ${A-} %{A} ${", error);
    ck_assert_str_eq(text, "$A 11; $x=${A} ${lower} ${A-} %{A} ${");
    ck_assert_ptr_null(mst_expand(&v, "f", 10, "a\nb\n${NONE}", error));
    ck_assert_str_eq(error, "f:12: expected a parameter or a variable of the lab, found ${NONE}; "
                     "there are: A LONG_2");
    ck_assert_int_ne(mst_parameters_assign(&v, "a=1", error), 0);
    ck_assert_int_ne(mst_parameters_assign(&v, "A", error), 0);
    ck_assert_int_ne(mst_parameters_assign(&v, "A=1\n2", error), 0);
    mst_parameters_unset(&v, "A");
    ck_assert_ptr_null(mst_parameters_get(&v, "A"));
}
END_TEST

/* Parameters of this section; `given` can be NULL. */
static int resolve(struct mst_parameters *v, const char *section, const char *given,
                   char error[MST_ERROR_MAX])
{
    struct mst_text text;
    struct mst_facts facts;
    struct mst_parameters more = { .pool = memory_of_test() };
    int failed;

    parse(&text, section);
    ck_assert_int_eq(mst_facts_read(&facts, &text, &text.sections[0], error), 0);
    if (given != NULL)
        ck_assert_int_eq(mst_parameters_assign(&more, given, error), 0);
    failed = mst_expand_parameters(v, &facts, &more, error);
    return failed;
}

START_TEST(test_parameters)
{
    static const char section[] =
        "%% parameters\nCHILDREN = ${WORKERS} / ${THREADS}  # before what it needs\n"
        "WORKERS = 60\nTHREADS = 25\nTWICE = ${CHILDREN} * 2\nLESS = ${WORKERS} - 1\n"
        "MORE = 7 + 8\nTEXT = 1 / x\nLIST = 10 20 30\n";
    struct mst_parameters v = { .pool = memory_of_test() };
    char error[MST_ERROR_MAX];

    ck_assert_int_eq(resolve(&v, section, NULL, error), 0);
    ck_assert_str_eq(mst_parameters_get(&v, "CHILDREN"), "3");   /* rounded up */
    ck_assert_str_eq(mst_parameters_get(&v, "TWICE"), "6");
    ck_assert_str_eq(mst_parameters_get(&v, "LESS"), "59");
    ck_assert_str_eq(mst_parameters_get(&v, "MORE"), "15");
    ck_assert_str_eq(mst_parameters_get(&v, "TEXT"), "1 / x");
    ck_assert_str_eq(mst_parameters_get(&v, "LIST"), "10 20 30");
    v = (struct mst_parameters){ .pool = memory_of_test() };
    ck_assert_int_eq(resolve(&v, section, "WORKERS=100", error), 0);
    ck_assert_str_eq(mst_parameters_get(&v, "CHILDREN"), "4");
    v = (struct mst_parameters){ .pool = memory_of_test() };
    ck_assert_int_eq(resolve(&v, section, "CHILDREN=${THREADS} + 1", error), 0);
    ck_assert_str_eq(mst_parameters_get(&v, "TWICE"), "52");
}
END_TEST

static const struct { const char *section, *error; } bad_parameters[] = {
    { "%% p\nA = ${B}\nB = ${C} + 1\nC = ${A}\n", "expected a value that does not need itself" },
    { "%% p\nA = ${B}\nB = ${NONE}\n", "t.stack:3: expected a parameter or a variable of the lab, "
      "found ${NONE}" },
    { "%% p\nlower = 1\n", "t.stack:2: expected a parameter's name of upper case letters" },
};

START_TEST(test_bad_parameters)
{
    struct mst_parameters v = { .pool = memory_of_test() };
    char error[MST_ERROR_MAX];

    ck_assert_int_ne(resolve(&v, bad_parameters[_i].section, NULL, error), 0);
    ck_assert_msg(strstr(error, bad_parameters[_i].error) != NULL, "%s", error);
}
END_TEST

START_TEST(test_parameter_is_taken)
{
    struct mst_parameters v = { .pool = memory_of_test() };
    char error[MST_ERROR_MAX];

    mst_parameters_set(&v, "PORT", "80");
    ck_assert_int_ne(resolve(&v, "%% p\nPORT = 81\n", NULL, error), 0);
    ck_assert_msg(strstr(error, "expected a name that is not taken: PORT") != NULL, "%s", error);
}
END_TEST

/* ---- stacks and workloads --------------------------------------------------------- */

static void write_text(const char *path, const char *text)
{
    FILE *out = fopen(path, "we");

    ck_assert_ptr_nonnull(out);
    ck_assert_int_ge(fputs(text, out), 0);
    ck_assert_int_eq(fclose(out), 0);
}

#define STACK "%% stack\ntitle = a title\nserves = static\n"

static const struct { const char *text, *error; } bad_stacks[] = {
    { "%% parameters\n", "expected a section %% stack, found none" },
    { "%% stack\nserves = static\n%% apache a\n", ":1: expected title = ... in this section" },
    { STACK, "expected a server (%% apache NAME, %% fpm NAME or %% nginx NAME), found none" },
    { STACK "%% lighttpd a\n", ":4: expected a section of stack, parameters, apache, fpm" },
    { STACK "%% apache\n", ":4: expected %% apache NAME with a name of small letters" },
    { STACK "%% apache ../x\n", ":4: expected %% apache NAME with a name of small letters" },
    { STACK "%% apache a\n%% fpm a\n", ":5: expected a name that no other server has" },
    { STACK "%% apache a\n%% file /etc/x\n", ":5: expected %% file PATH with a path below" },
    { STACK "%% apache a\n%% file x/../../y\n", ":5: expected %% file PATH" },
    { STACK "%% apache a\n%% file x group=y\n", ":5: expected mode=MODE or owner=USER" },
    { STACK "%% apache a b\n", ":4: expected nothing after the name, found \"b\"" },
    { STACK "%% apache a\n%% setup\n%% setup\n", ":6: expected one section setup" },
    { STACK "port = 80\n%% apache a\n", ":4: expected one of title, family" },
    { STACK "root = perhaps\n%% apache a\n", ":4: expected root = yes or root = no" },
};

START_TEST(test_bad_stacks)
{
    char path[PATH_MAX], error[MST_ERROR_MAX] = "";

    snprintf(path, sizeof path, "%s.stack", test_path());
    write_text(path, bad_stacks[_i].text);
    ck_assert_ptr_null(mst_stack_read(memory_of_test(), path, NULL, error));
    ck_assert_msg(strncmp(error, path, strlen(path)) == 0 &&
                  strstr(error, bad_stacks[_i].error) != NULL, "%s", error);
}
END_TEST

/* A data directory of the test's own, with one stack and one workload. */
static const char *make_data(void)
{
    static const char *const directories[] = { "", "/lab", "/lab/stacks", "/lab/stacks/include",
                                               "/lab/workloads" };
    static char data[PATH_MAX - 100];
    char path[PATH_MAX];
    size_t i;

    snprintf(data, sizeof data, "%s", test_path());
    for (i = 0; i < sizeof directories / sizeof *directories; i++) {
        snprintf(path, sizeof path, "%s%s", data, directories[i]);
        ck_assert_int_eq(mkdir(path, 0755), 0);
    }
    snprintf(path, sizeof path, "%s/lab/stacks/one.stack", data);
    write_text(path, STACK "needs = a b\n%% parameters\nWORKERS = 5 * 2\n%% fpm php\n"
               "include = ${INCLUDE}/one.conf\n%% apache front\n"
               "Listen 127.0.0.1:${PORT}\nInclude \"${INCLUDE}/one.conf\"\n"
               "%% file d/x mode=0750\n${ROOT} ${WORKERS}\n%% setup\ntouch ${ROOT}/it\n");
    snprintf(path, sizeof path, "%s/lab/stacks/include/one.conf", data);
    write_text(path, "Own ${NAME}\nInclude ${INCLUDE}/two.conf\n");
    snprintf(path, sizeof path, "%s/lab/stacks/include/two.conf", data);
    write_text(path, "Limit ${WORKERS}\n");
    snprintf(path, sizeof path, "%s/lab/stacks/include/unused.conf", data);
    write_text(path, "${UNKNOWN}\n");
    snprintf(path, sizeof path, "%s/lab/workloads/page.workload", data);
    write_text(path, "%% workload\ntitle = a page\nkind = static\ndocroot = ${WORKLOADS}\n"
               "url = /page?n=${N}\nexpects = it's ${N}\nphp = pdo\n%% parameters\nN = 3\n");
    ck_assert_int_eq(setenv("MPMSTAT_DATADIR", data, 1), 0);
    return data;
}

static const char *file_of(const struct mst_site *site, const char *path)
{
    size_t i;

    for (i = 0; i < site->file_count; i++)
        if (strcmp(site->files[i].path, path) == 0)
            return site->files[i].text;
    return "(there is no such file)";
}

struct read_both {
    struct mst_stack *stack;
    struct mst_workload *workload;
};

static struct read_both read_both(void)
{
    char error[MST_ERROR_MAX];
    struct read_both both;

    make_data();
    both.stack = mst_stack_read(memory_of_test(), "one", NULL, error);
    ck_assert_msg(both.stack != NULL, "%s", error);
    both.workload = mst_workload_read(memory_of_test(), "page", NULL, error);
    ck_assert_msg(both.workload != NULL, "%s", error);
    return both;
}

static const unsigned ports[MST_PORTS] = { 8001, 8002, 8003, 8004 };

/* A build has the module; the test's own program is in another directory. */
static bool make_site(struct mst_site *site, const struct read_both *both, const char *given,
                      char error[MST_ERROR_MAX])
{
    struct mst_parameters more = { .pool = memory_of_test() };

    if (given != NULL)
        ck_assert_int_eq(mst_parameters_assign(&more, given, error), 0);
    return mst_site_make(memory_of_test(), site, both->stack, both->workload, &more, "/r", ports,
                         error) == 0;
}

START_TEST(test_site)
{
    struct read_both both = read_both();
    struct mst_site site;
    char error[MST_ERROR_MAX];

    ck_assert_uint_eq(both.stack->parameters.count, 1);
    ck_assert_str_eq(both.stack->needs[1], "b");
    ck_assert_msg(make_site(&site, &both, "N=4", error), "%s", error);
    ck_assert_str_eq(site.url, "http://127.0.0.1:8001/page?n=4");
    ck_assert_str_eq(site.expects, "it's 4");
    ck_assert_str_eq(site.status_url, "http://127.0.0.1:8001/mpm-status");
    ck_assert_uint_eq(site.server_count, 2);
    ck_assert_str_eq(site.servers[0].name, "php");
    ck_assert_str_eq(site.servers[1].directory, "/r/front");
    ck_assert_str_eq(file_of(&site, "front/httpd.conf"),
                     "Listen 127.0.0.1:8001\nInclude \"/r/front/include/one.conf\"\n");
    ck_assert_str_eq(file_of(&site, "php/php-fpm.conf"), "include = /r/php/include/one.conf\n");
    ck_assert_str_eq(file_of(&site, "front/include/one.conf"),
                     "Own /r/front\nInclude /r/front/include/two.conf\n");
    ck_assert_str_eq(file_of(&site, "php/include/one.conf"),
                     "Own /r/php\nInclude /r/php/include/two.conf\n");
    ck_assert_str_eq(file_of(&site, "php/include/two.conf"), "Limit 10\n");
    ck_assert_str_eq(file_of(&site, "d/x"), "/r 10\n");
    ck_assert_ptr_nonnull(strstr(file_of(&site, "scripts/setup.stack"), "export N='4'\n"));
    ck_assert_ptr_nonnull(strstr(file_of(&site, "scripts/setup.stack"), "\ntouch /r/it\n"));
    ck_assert_ptr_nonnull(strstr(file_of(&site, "php.ini"), "\nextension = pdo\n"));
}
END_TEST

START_TEST(test_unknown_given)
{
    struct read_both both = read_both();
    struct mst_site site;
    char error[MST_ERROR_MAX];

    ck_assert(!make_site(&site, &both, "WORKER=4", error));
    ck_assert_str_eq(error, "expected a parameter of the stack one or the workload page, found "
                     "WORKER; there are: PORT WORKERS N");
}
END_TEST

/* A name with a slash or a suffix is a path. Another is searched next to the study, then in the
 * data directory. The error for an unknown one lists those that there are. */
START_TEST(test_names)
{
    const char *data = make_data();
    char path[PATH_MAX], error[MST_ERROR_MAX], beside[PATH_MAX];
    struct mst_stack *stack;

    ck_assert_ptr_null(mst_stack_read(memory_of_test(), "two", NULL, error));
    ck_assert_ptr_nonnull(strstr(error, "there is no stack \"two\"; there are: one."));
    snprintf(beside, sizeof beside, "%s/lab", data);
    snprintf(path, sizeof path, "%s/lab/two.stack", data);
    write_text(path, STACK "%% nginx n\n");
    stack = mst_stack_read(memory_of_test(), "two", beside, error);
    ck_assert_msg(stack != NULL, "%s", error);
    ck_assert_str_eq(stack->name, "two");
    stack = mst_stack_read(memory_of_test(), path, NULL, error);
    ck_assert_msg(stack != NULL, "%s", error);
}
END_TEST

/* ---- packages, directories -------------------------------------------------------- */

START_TEST(test_packages)
{
    struct mst_packages *packages;
    char *names[] = { (char[]){ "dpkg" }, (char[]){ "no-such-package" }, (char[]){ "awk" },
                      (char[]){ "no-such-package" }, (char[]){ "dpk" }, NULL };
    char error[MST_ERROR_MAX], missing[MST_ERROR_MAX] = "";

    packages = mst_packages_read(memory_of_test(), error);
    if (packages == NULL)
        return;    /* no Debian */
    mst_packages_missing(packages, names, missing);
    ck_assert_str_eq(missing, "no-such-package dpk");
    ck_assert_int_eq(mst_packages_tell(missing, error), 1);
    ck_assert_ptr_nonnull(strstr(error, "apt-get install --no-install-recommends no-such-package "
                                 "dpk"));
}
END_TEST

/* What a link in it points to is not removed. */
START_TEST(test_remove)
{
    char root[PATH_MAX - 100], other[PATH_MAX - 100], path[PATH_MAX], error[MST_ERROR_MAX];

    snprintf(root, sizeof root, "%s", test_path());
    snprintf(other, sizeof other, "%s", test_path());
    ck_assert(mkdir(root, 0755) == 0 && mkdir(other, 0755) == 0);
    snprintf(path, sizeof path, "%s/keep", other);
    write_text(path, "x");
    snprintf(path, sizeof path, "%s/d", root);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/d/link", root);
    ck_assert_int_eq(symlink(other, path), 0);
    snprintf(path, sizeof path, "%s/d/file", root);
    write_text(path, "x");
    ck_assert_msg(mst_sandbox_remove(root, error) == 0, "%s", error);
    ck_assert_int_ne(access(root, F_OK), 0);
    snprintf(path, sizeof path, "%s/keep", other);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(mst_sandbox_remove(root, error), 0);   /* it is gone: as it should be */
    ck_assert_int_ne(mst_sandbox_remove(path, error), 0);   /* no directory */
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
    Suite *suite = suite_create("lab");
    TCase *tests = tcase_create("lab");

    tcase_add_test(tests, test_sections);
    tcase_add_test(tests, test_last_line_without_newline);
    tcase_add_loop_test(tests, test_bad_text, 0, COUNT(bad_texts));
    tcase_add_test(tests, test_too_large);
    tcase_add_test(tests, test_facts);
    tcase_add_loop_test(tests, test_bad_facts, 0, COUNT(bad_facts));
    tcase_add_test(tests, test_rows);
    tcase_add_test(tests, test_expand);
    tcase_add_test(tests, test_parameters);
    tcase_add_loop_test(tests, test_bad_parameters, 0, COUNT(bad_parameters));
    tcase_add_test(tests, test_parameter_is_taken);
    tcase_add_loop_test(tests, test_bad_stacks, 0, COUNT(bad_stacks));
    tcase_add_test(tests, test_site);
    tcase_add_test(tests, test_unknown_given);
    tcase_add_test(tests, test_names);
    tcase_add_test(tests, test_packages);
    tcase_add_test(tests, test_remove);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
