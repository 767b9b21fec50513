/* check_labels.c - the label table: which writers can add labels, how many, and what a table does
 * that a hostile worker has written to.
 *
 * The linker puts __wrap_sched_yield() in the place of sched_yield() here: a search gives way
 * to other processes nowhere else.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "stats/random.h"
#include "write/worker.h"

#define NAMING UINT64_C(2)
#define YIELDS 100u     /* of one search at most */

static struct mst_board board;
static unsigned yields;
static uint32_t named_at_yield;    /* the entry whose name is there after the next yield; 0: none */

int __wrap_sched_yield(void);

int __wrap_sched_yield(void)
{
    yields++;
    if (named_at_yield) {
        strcpy(board.labels[named_at_yield].name, "late");
        board.labels[named_at_yield].used = 1;
    }
    return 0;
}

static void make(uint32_t labels)
{
    struct mst_layout layout = test_layout();

    layout.labels = labels;
    test_board(&board, &layout);
    yields = 0;
}

/* ---- names ------------------------------------------------------------------------------ */

#define LONGEST "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"

START_TEST(what_a_label_may_be)
{
    static const char *const valid[] = { "a", "0", "-", "shop:cart/v1.2_x-y", "AZaz09", LONGEST };
    static const char *const invalid[] = {
        "", " ", "two words", "a\n", "\n", "semi;colon", "brace}", "quote\"", "\xc3\xbc", "\x01",
        "a\x7f", "<b>", "a,b", "a=b", LONGEST "g",
    };
    size_t i;

    for (i = 0; i < sizeof valid / sizeof *valid; i++)
        ck_assert_msg(mst_label_is_valid(valid[i]), "refused: %s", valid[i]);
    for (i = 0; i < sizeof invalid / sizeof *invalid; i++)
        ck_assert_msg(!mst_label_is_valid(invalid[i]), "taken: %s", invalid[i]);
}
END_TEST

START_TEST(an_owner_is_never_nobody)
{
    ck_assert_uint_ne(mst_label_owner(""), 0);
    ck_assert_uint_eq(mst_label_owner("a.example"), mst_label_owner("a.example"));
    ck_assert_uint_ne(mst_label_owner("a.example"), mst_label_owner("b.example"));
}
END_TEST

/* ---- tenants ---------------------------------------------------------------------------- */

static struct mst_tenant tenant(const char *name, uint32_t quota)
{
    return (struct mst_tenant){ .owner = mst_label_owner(name), .quota = quota,
                                .share = board.label_count / MST_TENANTS_PART };
}

/* How many of 2000 labels of its own it gets. */
static uint32_t greedy(const struct mst_tenant *t, const char *prefix)
{
    uint32_t n, index, got = 0;
    char name[32];

    for (n = 0; n < 2000; n++) {
        snprintf(name, sizeof name, "%s%u", prefix, n);
        index = UINT32_MAX;
        if (!mst_label_intern_tenant(&board, name, t, &index)) {
            ck_assert_uint_eq(index, UINT32_MAX);
            continue;
        }
        ck_assert_uint_lt(index, board.label_count);
        ck_assert_str_eq(board.labels[index].name, name);
        got++;
    }
    return got;
}

START_TEST(a_tenant_gets_its_quota_and_all_of_them_a_share)
{
    struct mst_tenant one, other, third;

    make(64);
    one = tenant("one.example", 8), other = tenant("other.example", 8);
    third = tenant("third.example", 8);
    ck_assert_uint_eq(greedy(&one, "one"), 8);
    ck_assert_uint_eq(greedy(&one, "again"), 0);
    ck_assert_uint_eq(greedy(&other, "other"), 8);
    ck_assert_uint_eq(greedy(&third, "third"), 0);   /* a quarter of 64 is taken */
    mst_board_close(&board);
}
END_TEST

START_TEST(what_is_left_is_the_configurations)
{
    struct mst_tenant t;
    char name[16];
    uint32_t i;

    make(64);
    t = tenant("one.example", 64);
    ck_assert_uint_eq(greedy(&t, "x"), 16);
    for (i = 0; i < 64 - 16 - 2; i++) {
        snprintf(name, sizeof name, "site%u", i);
        ck_assert_uint_eq(mst_label_reserve(&board, name), 2 + 16 + i);
    }
    ck_assert_uint_eq(mst_label_reserve(&board, "one more"), MST_LABEL_OTHER);
    ck_assert(!mst_label_intern_tenant(&board, "one more", &t, &i));
    mst_board_close(&board);
}
END_TEST

/* The quota is of labels that are added: those that are there are everybody's to name. */
START_TEST(what_is_there_a_tenant_may_name)
{
    uint32_t shop, index = 0;
    struct mst_tenant none;

    make(64);
    none = tenant("one.example", 0);
    shop = mst_label_intern(&board, "shop");
    ck_assert(mst_label_intern_tenant(&board, "shop", &none, &index));
    ck_assert_uint_eq(index, shop);
    ck_assert(mst_label_intern_tenant(&board, "other", &none, &index));
    ck_assert_uint_eq(index, MST_LABEL_OTHER);
    ck_assert(!mst_label_intern_tenant(&board, "basket", &none, &index));
    /* It would hide the requests: the status page's are not the server's load. */
    ck_assert(!mst_label_intern_tenant(&board, MST_LABEL_STATUS_NAME, &none, &index));
    mst_board_close(&board);
}
END_TEST

START_TEST(the_configurations_own_are_nobodys)
{
    struct mst_tenant t;
    uint32_t index;

    make(64);
    t = tenant("one.example", 1);
    ck_assert_uint_eq(board.labels[mst_label_intern(&board, "a")].owner, 0);
    ck_assert_uint_eq(board.labels[mst_label_reserve(&board, "b")].owner, 0);
    ck_assert(mst_label_intern_tenant(&board, "c", &t, &index));
    ck_assert_uint_eq(board.labels[index].owner, t.owner);
    mst_board_close(&board);
}
END_TEST

/* Eight processes, each with the names of two tenants, in another order. */
START_TEST(quotas_hold_among_processes)
{
    pid_t pids[8];
    uint32_t i, n, index, made[2] = { 0, 0 };
    struct mst_tenant t[2];

    make(64);
    t[0] = tenant("one.example", 5), t[1] = tenant("other.example", 7);
    for (i = 0; i < 8; i++) {
        if (!test_fork(&pids[i]))
            continue;
        for (n = 0; n < 200; n++) {
            char name[32];

            snprintf(name, sizeof name, "t%u-%u", n % 2, (n + 13 * i) % 200);
            mst_label_intern_tenant(&board, name, &t[n % 2], &index);
        }
        _exit(0);
    }
    for (i = 0; i < 8; i++)
        ck_assert_int_eq(test_wait(pids[i]), 0);
    for (i = 0; i < 64; i++)
        for (n = 0; n < 2; n++)
            made[n] += board.labels[i].owner == t[n].owner;
    ck_assert_uint_eq(made[0], 5);
    ck_assert_uint_eq(made[1], 7);
    mst_board_close(&board);
}
END_TEST

/* ---- hostile tables --------------------------------------------------------------------- */

static void set_all(uint64_t used)
{
    uint32_t i;

    for (i = 0; i < board.label_count; i++)
        board.labels[i].used = used;
}

/* As a worker killed at 1,022 namings, or one that says so. */
START_TEST(a_search_waits_for_all_entries_together)
{
    make(MST_LABELS_MAX);
    set_all(NAMING);
    ck_assert_uint_eq(mst_label_intern(&board, "site"), MST_LABEL_OTHER);
    ck_assert_uint_eq(yields, YIELDS);
    /* Nobody waits for them again. */
    ck_assert_uint_eq(mst_label_intern(&board, "site"), MST_LABEL_OTHER);
    ck_assert_uint_eq(yields, YIELDS);
    mst_board_close(&board);
}
END_TEST

START_TEST(the_parent_does_not_wait)
{
    make(MST_LABELS_MAX);
    set_all(NAMING);
    ck_assert_uint_eq(mst_label_reserve(&board, "site"), MST_LABEL_OTHER);
    ck_assert_uint_eq(yields, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_entry_whose_namer_is_gone_is_passed_over)
{
    make(64);
    board.labels[2].used = NAMING;
    ck_assert_uint_eq(mst_label_intern(&board, "site"), 3);
    ck_assert_uint_eq(mst_label_intern(&board, "site"), 3);
    ck_assert_uint_eq(yields, YIELDS);
    ck_assert_uint_ne(board.labels[2].used, 1);
    mst_board_close(&board);
}
END_TEST

START_TEST(an_entry_that_is_being_named_is_waited_for)
{
    make(64);
    board.labels[2].used = NAMING;
    named_at_yield = 2;
    ck_assert_uint_eq(mst_label_intern(&board, "late"), 2);
    ck_assert_uint_eq(yields, 1);
    mst_board_close(&board);
}
END_TEST

START_TEST(damage_is_passed_over_at_once)
{
    make(64);
    board.labels[2].used = UINT64_MAX;
    board.labels[3].used = 77;
    ck_assert_uint_eq(mst_label_intern(&board, "site"), 4);
    ck_assert_uint_eq(yields, 0);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_name_without_an_end_is_read_as_far_as_its_entry)
{
    char name[MST_NAME_MAX];

    make(8);
    memset(board.labels[2].name, 'x', MST_NAME_MAX);
    board.labels[2].used = 1;
    mst_label_read(&board, 2, name);
    ck_assert_uint_eq(strlen(name), MST_NAME_MAX - 1);
    ck_assert_uint_eq(mst_label_intern(&board, name), 3);
    ck_assert_uint_eq(mst_label_intern(&board, "xx"), 4);
    mst_board_close(&board);
}
END_TEST

static void scribble(uint64_t *random)
{
    uint32_t entry = (uint32_t)(mst_random_word(random) % board.label_count);
    struct mst_name *l = &board.labels[entry];

    __atomic_store_n(&l->used, mst_random_word(random) % 5, __ATOMIC_RELAXED);
    l->name[mst_random_word(random) % MST_NAME_MAX] = (char)mst_random_word(random);
    __atomic_store_n(&l->owner, mst_random_word(random) % 3, __ATOMIC_RELAXED);
}

/* A worker that writes to the table all the while: each search ends, with an index of the
 * table. */
START_TEST(a_table_that_changes_under_the_search)
{
    struct mst_tenant t = { .owner = 1, .quota = 4, .share = 16 };
    uint64_t random = 1;
    uint32_t n, index;
    char name[16];
    pid_t pid, parent = getpid();

    make(64);
    if (test_fork(&pid)) {
        while (getppid() == parent)
            scribble(&random);
        _exit(0);
    }
    for (n = 0; n < 20000; n++) {
        snprintf(name, sizeof name, "n%u", n % 80);
        ck_assert_uint_lt(mst_label_intern(&board, name), board.label_count);
        ck_assert_uint_lt(mst_label_reserve(&board, name), board.label_count);
        if (mst_label_intern_tenant(&board, name, &t, &index))
            ck_assert_uint_lt(index, board.label_count);
    }
    ck_assert_uint_le(yields, 2 * 20000 * YIELDS);
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    mst_board_close(&board);
}
END_TEST

/* ---- boards of the version before owners ------------------------------------------------- */

START_TEST(labels_without_owners_are_read)
{
    char path[4096], error[MST_ERROR_MAX];
    struct mst_reader reader;
    struct mst_copy copy;
    size_t i;

    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/board/older-busy", getenv("MPMSTAT_SRCDIR"));
    ck_assert_msg(mst_reader_open(&reader, path, error) == 0, "%s", error);
    ck_assert_uint_eq(reader.header.section[MST_SECTION_LABELS].stride,
                      offsetof(struct mst_name, owner));
    ck_assert_msg(mst_copy_take(&copy, &reader, error) == 0, "%s", error);
    ck_assert_str_eq(copy.labels[MST_LABEL_OTHER].name, MST_LABEL_OTHER_NAME);
    ck_assert_str_eq(copy.labels[MST_LABEL_STATUS].name, MST_LABEL_STATUS_NAME);
    for (i = 0; i < copy.label_count; i++)
        ck_assert_uint_eq(copy.labels[i].owner, 0);
    mst_copy_free(&copy);
    mst_reader_close(&reader);
}
END_TEST

/* ---- other ends ------------------------------------------------------------------------ */

static const struct mst_snapshot_end *end_of(const struct mst_snapshot *s, const char *kind,
                                             const char *name)
{
    size_t i;

    for (i = 0; i < s->end_count; i++)
        if (strcmp(s->ends[i].name, name) == 0 && s->ends[i].end_kind != NULL
            && strcmp(s->ends[i].end_kind, kind) == 0)
            return &s->ends[i];
    ck_abort_msg("there is no end %s %s", kind, name);
    return NULL;
}

START_TEST(an_end_is_known_by_kind_and_name)
{
    uint32_t database, cache;
    struct test_view view;

    make(8);
    database = mst_other_end_intern(&board, MST_END_DATABASE, "mysql 127.0.0.1:3306");
    cache = mst_other_end_intern(&board, MST_END_CACHE, "mysql 127.0.0.1:3306");
    ck_assert_uint_ne(database, cache);
    ck_assert_uint_eq(mst_other_end_intern(&board, MST_END_DATABASE, "mysql 127.0.0.1:3306"),
                      database);
    mst_other_end_count(&board, database, 0, 1000, false);
    mst_other_end_count(&board, database, 1, 234, true);
    mst_other_end_count(&board, mst_other_end_intern(&board, MST_END_HTTP, "a\n\x80\x1b[31m"), 0, 5,
                        false);
    test_view(&view, board.path, 1);
    ck_assert_uint_eq(view.s.end_count, 2);   /* without `other` and that without calls */
    ck_assert_uint_eq(end_of(&view.s, "database", "mysql 127.0.0.1:3306")->calls, 2);
    ck_assert_uint_eq(end_of(&view.s, "database", "mysql 127.0.0.1:3306")->failed, 1);
    ck_assert_uint_eq(end_of(&view.s, "database", "mysql 127.0.0.1:3306")->end_ns, 1234);
    ck_assert_uint_eq(end_of(&view.s, "http", "a???[31m")->calls, 1);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

START_TEST(a_name_can_say_its_kind)
{
    ck_assert(mst_other_end_says_kind("sleep", "sleep"));
    ck_assert(mst_other_end_says_kind("lock session", "lock"));
    ck_assert(!mst_other_end_says_kind("https://a.example", "http"));
    ck_assert(!mst_other_end_says_kind("mysql db:3306", "database"));
    ck_assert(!mst_other_end_says_kind("", "sleep"));
}
END_TEST

START_TEST(words_have_a_kind_once)
{
    static const struct { const char *kind, *name, *words; } waits[] = {
        { "sleep", "sleep", "sleep" }, { "lock", "lock session", "lock session" },
        { "database", "mysql db:3306", "database mysql db:3306" }, { "dns", "", "dns" },
    };
    char words[MST_WAIT_WORDS_MAX];
    size_t i;

    for (i = 0; i < sizeof waits / sizeof *waits; i++) {
        mst_wait_words(words, waits[i].kind, waits[i].name);
        ck_assert_str_eq(words, waits[i].words);
    }
}
END_TEST

/* Scripts name as many ends as they like. */
static uint32_t greedy_for_ends(const char *tenant)
{
    uint32_t i, got = 0;
    char name[MST_NAME_MAX];

    for (i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "tcp %s:%u", tenant, i);
        got += mst_other_end_intern_tenant(&board, MST_END_STREAM, name, mst_label_owner(tenant))
            != MST_END_OTHER;
    }
    return got;
}

START_TEST(a_tenant_gets_its_quota_of_ends_and_all_of_them_a_share)
{
    uint32_t i, shared;
    char name[MST_NAME_MAX];
    struct test_view view;

    make(8);
    shared = mst_other_end_intern(&board, MST_END_STREAM, "tcp shared:1");
    ck_assert_uint_eq(greedy_for_ends("one"), MST_TENANT_ENDS);
    ck_assert_uint_eq(greedy_for_ends("one"), MST_TENANT_ENDS);
    ck_assert_uint_eq(greedy_for_ends("two"), MST_TENANTS_ENDS - MST_TENANT_ENDS);
    ck_assert_uint_eq(greedy_for_ends("three"), 0);
    /* What is there, every tenant may name. */
    ck_assert_uint_eq(mst_other_end_intern_tenant(&board, MST_END_STREAM, "tcp shared:1",
                                                  mst_label_owner("three")), shared);
    /* The configuration has the rest, without `other` and the one above. */
    for (i = 0; i < MST_ENDS - MST_TENANTS_ENDS - 2; i++) {
        snprintf(name, sizeof name, "http://backend-%u", i);
        ck_assert_uint_ne(mst_other_end_intern(&board, MST_END_BACKEND, name), MST_END_OTHER);
    }
    ck_assert_uint_eq(mst_other_end_intern(&board, MST_END_BACKEND, "one more"), MST_END_OTHER);
    /* The kind of a tenant's end is known. */
    i = mst_other_end_intern(&board, MST_END_STREAM, "tcp one:0");
    mst_other_end_count(&board, i, 0, 5, false);
    test_view(&view, board.path, 1);
    ck_assert_uint_eq(end_of(&view.s, "stream", "tcp one:0")->calls, 1);
    test_view_free(&view);
    mst_board_close(&board);
}
END_TEST

START_TEST(ends_without_room_are_other)
{
    char name[MST_NAME_MAX];
    unsigned i;

    make(8);
    for (i = 1; i < MST_ENDS; i++) {
        snprintf(name, sizeof name, "http host-%u", i);
        ck_assert_uint_eq(mst_other_end_intern(&board, MST_END_HTTP, name), i);
    }
    ck_assert_uint_eq(mst_other_end_intern(&board, MST_END_HTTP, "http one-more"), MST_END_OTHER);
    ck_assert_uint_eq(mst_other_end_intern(&board, MST_END_HTTP, "http host-7"), 7);
    mst_board_close(&board);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("labels");
    TCase *names = tcase_create("names"), *tenants = tcase_create("tenants"),
          *hostile = tcase_create("hostile"), *older = tcase_create("older"),
          *ends = tcase_create("ends");

    tcase_add_test(names, what_a_label_may_be);
    tcase_add_test(names, an_owner_is_never_nobody);
    tcase_add_test(tenants, a_tenant_gets_its_quota_and_all_of_them_a_share);
    tcase_add_test(tenants, what_is_left_is_the_configurations);
    tcase_add_test(tenants, what_is_there_a_tenant_may_name);
    tcase_add_test(tenants, the_configurations_own_are_nobodys);
    tcase_add_test(tenants, quotas_hold_among_processes);
    tcase_add_test(hostile, a_search_waits_for_all_entries_together);
    tcase_add_test(hostile, the_parent_does_not_wait);
    tcase_add_test(hostile, an_entry_whose_namer_is_gone_is_passed_over);
    tcase_add_test(hostile, an_entry_that_is_being_named_is_waited_for);
    tcase_add_test(hostile, damage_is_passed_over_at_once);
    tcase_add_test(hostile, a_name_without_an_end_is_read_as_far_as_its_entry);
    tcase_add_test(hostile, a_table_that_changes_under_the_search);
    tcase_add_test(older, labels_without_owners_are_read);
    tcase_add_test(ends, an_end_is_known_by_kind_and_name);
    tcase_add_test(ends, a_name_can_say_its_kind);
    tcase_add_test(ends, words_have_a_kind_once);
    tcase_add_test(ends, a_tenant_gets_its_quota_of_ends_and_all_of_them_a_share);
    tcase_add_test(ends, ends_without_room_are_other);
    suite_add_tcase(suite, ends);
    suite_add_tcase(suite, names);
    suite_add_tcase(suite, tenants);
    suite_add_tcase(suite, hostile);
    suite_add_tcase(suite, older);
    return test_run(suite);
}
