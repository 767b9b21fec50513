/* end_database.c - the other ends of mysqli, PDO and pgsql. */
#include <ctype.h>
#include <string.h>

#include "compat.h"
#include "end_call.h"
#include "end_functions.h"

static struct mst_part setting(const char *name)
{
    return mst_part_of(mst_ini_text(name));
}

/* mysqli's functions that connect: ([link,] host, user, password, database, port, socket). */
MST_END(mysql)
{
    uint32_t from = Z_TYPE(call->This) != IS_OBJECT && mst_call_subject(call) ? 1 : 0;
    struct mst_part host = mst_call_text(call, from), port;
    char digits[16];

    (void)own;
    if (!host.text)
        host = setting("mysqli.default_host");
    if (mst_part_starts_with(host, "p:"))
        host = (struct mst_part){ host.text + 2, host.length - 2 };
    port = mst_call_port_of(mst_call_argument(call, from + 4),
                            setting("mysqli.default_port").text, digits);
    if (mst_part_equals(host, "localhost"))
        port.length = 0;
    return mst_call_connected(call, result, mst_wait_of_host(MST_WAIT_DATABASE,
                                                             mst_part_of("mysql"), host, port));
}

/* The value of "NAME=VALUE" among pairs with separators; its length is 0 where there is no such
 * pair. */
static struct mst_part value_in(struct mst_part text, const char *name, const char *separators)
{
    const char *at = text.text, *end = text.text + text.length;
    size_t length = strlen(name);

    while (at < end) {
        const char *stop;

        while (at < end && (strchr(separators, *at) || isspace((unsigned char)*at)))
            at++;
        for (stop = at; stop < end && !strchr(separators, *stop); stop++)
            ;
        if ((size_t)(stop - at) > length && strncasecmp(at, name, length) == 0
            && at[length] == '=') {
            at += length + 1;
            if (at < stop && *at == '\'' && stop[-1] == '\'' && stop - at > 1)
                at++, stop--;
            return (struct mst_part){ at, (size_t)(stop - at) };
        }
        at = stop;
    }
    return (struct mst_part){ NULL, 0 };
}

static struct mst_part standard_port(struct mst_part driver)
{
    if (mst_part_starts_with(driver, "mysql"))
        return mst_part_of("3306");
    return mst_part_of(mst_part_starts_with(driver, "pgsql") ? "5432" : "");
}

/* "DRIVER:host=...;port=..."; of others than servers only the driver. */
static uint64_t wait_of_dsn(struct mst_own_end *own, struct mst_part dsn)
{
    const char *colon = dsn.text ? memchr(dsn.text, ':', dsn.length) : NULL;
    struct mst_part driver, rest, host, port;
    struct mst_end_name n = { "", 0 };
    bool is_server;

    if (!colon || mst_part_starts_with(dsn, "uri:"))
        return mst_wait_of_own(own);
    driver = (struct mst_part){ dsn.text, (size_t)(colon - dsn.text) };
    rest = (struct mst_part){ colon + 1, dsn.length - driver.length - 1 };
    host = value_in(rest, "host", "; ");
    is_server = mst_part_starts_with(driver, "mysql") || mst_part_starts_with(driver, "pgsql");
    if (!is_server && host.length == 0) {
        mst_end_name_append_lower(&n, driver);
        return mst_wait_of_name(MST_WAIT_DATABASE, n.text);
    }
    port = value_in(rest, "port", "; ");
    if (port.length == 0)
        port = standard_port(driver);
    if (value_in(rest, "unix_socket", ";").length > 0)
        host.length = 0;
    if (mst_part_starts_with(driver, "mysql") && mst_part_equals(host, "localhost"))
        port.length = 0;
    return mst_wait_of_host(MST_WAIT_DATABASE, driver, host, port);
}

MST_END(pdo)
{
    return mst_call_connected(call, result, wait_of_dsn(own, mst_call_text(call, 0)));
}

MST_END(pgsql)
{
    struct mst_part text = mst_call_text(call, 0), host, port;
    uint64_t wait;

    (void)own;
    host = value_in(text, "host", " ");
    if (host.length == 0)
        host = value_in(text, "hostaddr", " ");
    port = value_in(text, "port", " ");
    wait = mst_wait_of_host(MST_WAIT_DATABASE, mst_part_of("pgsql"), host,
                            port.length ? port : mst_part_of("5432"));
    mst_known_set(mst_known_key(result), wait);
    return wait;
}
