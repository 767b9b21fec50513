/* check_handover.c - what one server tells the next: MPMSTAT and X-Request-Start,
 * whatever comes.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "harness.h"
#include "segment/format.h"
#include "segment/handover.h"

#define COUNT(array) (int)(sizeof (array) / sizeof (array)[0])
#define BOOT_ID "5a0a2f5e-9f4f-4b0f-8e7e-3f2f5d7c9b11"
#define BOOT "0123456789abcdef"
#define LARGEST "18446744073709551615"

/* ---- MPMSTAT ---------------------------------------------------------------------- */

static const struct {
    uint64_t    id, time_ns, time_namespace;
    const char *boot, *text;
} handovers[] = {
    { 4294967297, 86500123456789, 4026531834, BOOT,
      "4294967297:86500123456789:" BOOT ":4026531834" },
    { 1, 0, 0, "0", "1:0:0:0" },
    { 10, 100, 1000, BOOT, "10:100:" BOOT ":1000" },
    { UINT64_MAX, UINT64_MAX, UINT64_MAX, BOOT, LARGEST ":" LARGEST ":" BOOT ":" LARGEST },
    { 1, 2, 3, BOOT_ID, "1:2:" BOOT_ID ":3" },   /* as older versions wrote it */
    { UINT64_MAX, UINT64_MAX, UINT64_MAX, "123456789-123456789-123456789-123456789",
      LARGEST ":" LARGEST ":123456789-123456789-123456789-123456789:" LARGEST },
    { 5, 6, 0, "", "5:6::0" },
};

START_TEST(a_handover_is_written_and_read)
{
    char place[MST_HANDOVER_MAX], text[MST_HANDOVER_MAX];
    struct mst_handover h;
    size_t length;

    length = mst_handover_place(place, handovers[_i].boot, handovers[_i].time_namespace);
    ck_assert_uint_eq(length, strlen(place));
    length = mst_handover_format(text, handovers[_i].id, handovers[_i].time_ns, place);
    ck_assert_str_eq(text, handovers[_i].text);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert(mst_handover_parse(&h, text));
    ck_assert_uint_eq(h.id, handovers[_i].id);
    ck_assert_uint_eq(h.time_ns, handovers[_i].time_ns);
    ck_assert_uint_eq(h.time_namespace, handovers[_i].time_namespace);
    ck_assert_str_eq(h.boot, handovers[_i].boot);
}
END_TEST

START_TEST(a_text_of_this_place_is_read_in_short)
{
    char place[MST_HANDOVER_MAX], text[MST_HANDOVER_MAX];
    uint64_t id, time_ns;

    mst_handover_place(place, handovers[_i].boot, handovers[_i].time_namespace);
    mst_handover_format(text, handovers[_i].id, handovers[_i].time_ns, place);
    ck_assert(mst_handover_parse_here(text, place, &id, &time_ns));
    ck_assert_uint_eq(id, handovers[_i].id);
    ck_assert_uint_eq(time_ns, handovers[_i].time_ns);
    text[strlen(text) - 1] ^= 1;    /* another time namespace */
    ck_assert(!mst_handover_parse_here(text, place, &id, &time_ns));
}
END_TEST

START_TEST(a_boot_is_cut_where_it_is_too_long)
{
    char boot[MST_HANDOVER_BOOT], place[MST_HANDOVER_MAX];

    memset(boot, 'a', sizeof boot);
    ck_assert_uint_eq(mst_handover_place(place, boot, 7), 1 + MST_HANDOVER_BOOT - 1 + 2);
    ck_assert_str_eq(place + MST_HANDOVER_BOOT, ":7");
}
END_TEST

static const char *const no_handovers[] = {
    "", ":", ":::", "1", "1:2", "1:2:a", "1:2:a:", ":2:a:3", "1::a:3", "1:2:a:3:", "1:2:a:3:4",
    " 1:2:a:3", "1:2:a:3 ", "1:2:a:3\n", "1:2: a:3", "1 :2:a:3", "+1:2:a:3", "-1:2:a:3",
    "0x1:2:a:3", "1.0:2:a:3", "1:2:A:3", "1:2:g:3", "1:2:a/b:3", "1:2:a:-3",
    "18446744073709551616:2:a:3", "1:18446744073709551616:a:3", "1:2:a:18446744073709551616",
    "99999999999999999999999999:2:a:3",
    "1:2:0123456789abcdef0123456789abcdef01234567:3",   /* a boot of 40 */
    "(null)", "\xff\xff:1:a:1",
};

START_TEST(what_is_no_handover_is_refused)
{
    struct mst_handover h;

    ck_assert_msg(!mst_handover_parse(&h, no_handovers[_i]), "taken: %s", no_handovers[_i]);
}
END_TEST

/* ---- which boot ---------------------------------------------------------------------- */

/* The authors' own vectors: a key of 00 01 .. 0f, data of 00 01 .. */
START_TEST(siphash_is_siphash)
{
    static const struct { size_t size; uint64_t hash; } vectors[] = {
        { 0, UINT64_C(0x726fdb47dd0e0e31) }, { 1, UINT64_C(0x74f839c593dc67fd) },
        { 8, UINT64_C(0x93f5f5799a932462) }, { 15, UINT64_C(0xa129ca6149be45e5) },
    };
    unsigned char bytes[16];
    size_t i;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    for (i = 0; i < sizeof vectors / sizeof *vectors; i++)
        ck_assert_uint_eq(mst_siphash(bytes, bytes, vectors[i].size), vectors[i].hash);
}
END_TEST

START_TEST(a_boot_is_told_by_a_hash)
{
    char boot[MST_HANDOVER_BOOT], again[MST_HANDOVER_BOOT], another[MST_HANDOVER_BOOT];

    mst_handover_boot(boot, BOOT_ID);
    mst_handover_boot(again, BOOT_ID);
    ck_assert_str_eq(boot, again);
    ck_assert_uint_eq(strlen(boot), 16);
    ck_assert_uint_eq(strspn(boot, "0123456789abcdef"), 16);
    ck_assert_str_eq(boot, "dad4a49988018922");   /* both sides compute the same, for ever */
    mst_handover_boot(another, "5a0a2f5e-9f4f-4b0f-8e7e-3f2f5d7c9b10");
    ck_assert_str_ne(another, boot);
    mst_handover_boot(another, "");
    ck_assert_str_eq(another, "");
}
END_TEST

/* ---- X-Request-Start --------------------------------------------------------------- */

static const struct { const char *text; uint64_t ns; } starts[] = {
    { "1700000000", 1700000000000000000 },
    { "t=1700000000", 1700000000000000000 },
    { "1700000000.5", 1700000000500000000 },
    { "t=1700000000.123", 1700000000123000000 },            /* nginx's $msec */
    { "1700000000.123456789", 1700000000123456789 },
    { "1700000000.1234567899999999999999999", 1700000000123456789 },
    { "1700000000123", 1700000000123000000 },               /* HAProxy, Heroku */
    { "t=1700000000123.456", 1700000000123456000 },
    { "t=1700000000123456", 1700000000123456000 },          /* httpd's %t */
    { "1700000000123456.789", 1700000000123456789 },
    { "1700000000123456789", 1700000000123456789 },
    { "1700000000123456789.9", 1700000000123456789 },
    { " \t t=1700000000 \t ", 1700000000000000000 },
    { "1000000000", 1000000000000000000 },                  /* 2001, the first of ten digits */
    { "9999999999", 9999999999000000000u },
    { "9999999999.999999999", 9999999999999999999u },
    { "9999999999999", 9999999999999000000u },
    { "18446744073709551614", 18446744073709551614u },
};

START_TEST(the_unit_is_told_by_the_size)
{
    ck_assert_msg(mst_request_start_parse(starts[_i].text) == starts[_i].ns, "%s: %llu",
                  starts[_i].text,
                  (unsigned long long)mst_request_start_parse(starts[_i].text));
}
END_TEST

static const char *const no_starts[] = {
    "", " ", "t=", "t", "=", "t=t=1700000000", "T=1700000000", "t =1700000000", "t= 1700000000",
    "now", "-1700000000", "+1700000000", "1700000000s", "1.7e9", "0x6553f100", "NaN", "(null)",
    "0", "1", "999999999", "10000000000", "999999999999", "10000000000000", "999999999999999",
    "10000000000000000", "999999999999999999", "18446744073709551616",
    "99999999999999999999999999999999", "1700000000.", "1700000000.x", ".1700000000",
    "1700000000.1.2", "1700000000,5", "t=1700000000.1, t=1700000000.2",
    "Fri, 21 Nov 2025 10:00:00 GMT", "1700000000\n1", "%{msec}", "\xff",
};

START_TEST(nonsense_is_unknown)
{
    ck_assert_msg(mst_request_start_parse(no_starts[_i]) == MST_UNKNOWN, "taken: %s",
                  no_starts[_i]);
}
END_TEST

START_TEST(an_age_is_plausible_or_unknown)
{
    const uint64_t now = UINT64_C(1700000000123456789), hour = 3600 * MST_NS_PER_S;

    ck_assert_uint_eq(mst_request_start_age(now, now), 0);
    ck_assert_uint_eq(mst_request_start_age(now - 5, now), 5);
    ck_assert_uint_eq(mst_request_start_age(now - hour, now), hour);
    ck_assert_uint_eq(mst_request_start_age(now - hour - 1, now), MST_UNKNOWN);
    ck_assert_uint_eq(mst_request_start_age(now + 1, now), 0);
    ck_assert_uint_eq(mst_request_start_age(now + MST_NS_PER_S, now), 0);
    ck_assert_uint_eq(mst_request_start_age(now + MST_NS_PER_S + 1, now), MST_UNKNOWN);
    ck_assert_uint_eq(mst_request_start_age(MST_UNKNOWN, now), MST_UNKNOWN);
    ck_assert_uint_eq(mst_request_start_age(MST_UNKNOWN - 1, now), MST_UNKNOWN);
    ck_assert_uint_eq(mst_request_start_age(now, 0), MST_UNKNOWN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("handover");
    TCase *tests = tcase_create("handover");

    tcase_add_loop_test(tests, a_handover_is_written_and_read, 0, COUNT(handovers));
    tcase_add_loop_test(tests, a_text_of_this_place_is_read_in_short, 0, COUNT(handovers));
    tcase_add_test(tests, a_boot_is_cut_where_it_is_too_long);
    tcase_add_loop_test(tests, what_is_no_handover_is_refused, 0, COUNT(no_handovers));
    tcase_add_test(tests, siphash_is_siphash);
    tcase_add_test(tests, a_boot_is_told_by_a_hash);
    tcase_add_loop_test(tests, the_unit_is_told_by_the_size, 0, COUNT(starts));
    tcase_add_loop_test(tests, nonsense_is_unknown, 0, COUNT(no_starts));
    tcase_add_test(tests, an_age_is_plausible_or_unknown);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
