/* ends.c - what a timed function waits for: its kind and its other end.
 *
 * An other end is a name: what is spoken there, host and port. Never a path, a query or another
 * argument. What a connection leads to is known when it is made; from then on it is remembered
 * for the object or resource, for which later functions are called.
 */
#include "ends.h"

#include <ctype.h>
#include <main/php_streams.h>
#include <stdio.h>
#include <string.h>

#include "label.h"
#include "state.h"

#define CURL_OPTION_URL 10002   /* CURLOPT_URL, of libcurl's stable ABI */

/* A name in the making: "mysql 127.0.0.1:3306". */
struct name {
    char   text[MST_NAME_MAX];
    size_t length;
};

/* A part of a text. */
struct part {
    const char *text;
    size_t      length;
};

static struct part part_of(const char *text)
{
    return (struct part){ text, text ? strlen(text) : 0 };
}

static bool starts_with(struct part p, const char *prefix)
{
    return p.length >= strlen(prefix) && strncasecmp(p.text, prefix, strlen(prefix)) == 0;
}

/* ---- names -------------------------------------------------------------------------------- */

static void append(struct name *n, struct part p)
{
    size_t room = sizeof n->text - 1 - n->length;

    if (p.length > room)
        p.length = room;
    memcpy(n->text + n->length, p.text, p.length);
    n->length += p.length;
    n->text[n->length] = '\0';
}

static void append_lower(struct name *n, struct part p)
{
    size_t i = n->length;

    append(n, p);
    for (; i < n->length; i++)
        n->text[i] = (char)tolower((unsigned char)n->text[i]);
}

/* Scripts choose the name. */
static uint64_t intern(uint32_t kind, const char *name)
{
    if (!MPMSTAT_G(name_ends))
        return mst_wait_of(kind, MST_END_OTHER);
    return mst_wait_of(kind, mst_other_end_intern_tenant(&mst_php.board, MST_END_DATABASE + kind,
                                                         name, mst_label_tenant()));
}

/* "SERVICE HOST:PORT"; "SERVICE localhost" where there is no host, or a socket's path. */
static uint64_t intern_host(uint32_t kind, struct part service, struct part host, struct part port)
{
    struct name n = { "", 0 };

    append_lower(&n, service);
    append(&n, part_of(" "));
    if (host.length == 0 || *host.text == '/') {
        append(&n, part_of("localhost"));
    } else {
        append_lower(&n, host);
        if (port.length > 0) {
            append(&n, part_of(":"));
            append(&n, port);
        }
    }
    return intern(kind, n.text);
}

/* For names of this program's own. The index is looked up once: cache has it plus 1, or 0. */
static uint64_t intern_once(uint32_t *cache, uint32_t kind, const char *name)
{
    uint32_t end = __atomic_load_n(cache, __ATOMIC_RELAXED);

    if (!MPMSTAT_G(name_ends))
        return mst_wait_of(kind, MST_END_OTHER);
    if (end == 0) {
        end = mst_other_end_intern(&mst_php.board, MST_END_DATABASE + kind, name) + 1;
        __atomic_store_n(cache, end, __ATOMIC_RELAXED);
    }
    return mst_wait_of(kind, end - 1);
}

uint64_t mst_wait_default(struct mst_wait_line *line)
{
    return intern_once(&line->name_end, line->kind, line->name);
}

static uint32_t file_end, pipe_end;
static int stream_type, persistent_stream_type;   /* of resources */

void mst_ends_join(void)
{
    uint32_t i;

    stream_type = php_file_le_stream();
    persistent_stream_type = php_file_le_pstream();
    for (i = 0; i < mst_wait_line_count; i++)
        mst_wait_lines[i].name_end = 0;
    file_end = pipe_end = 0;
}

/* ---- what objects and resources are connected to ------------------------------------------ */

#define NOTHING UINT64_MAX
#define PROBES 4u

static const void *thing_in(const zval *value)
{
    if (Z_TYPE_P(value) == IS_REFERENCE)
        value = Z_REFVAL_P(value);
    if (Z_TYPE_P(value) == IS_OBJECT)
        return Z_OBJ_P(value);
    return Z_TYPE_P(value) == IS_RESOURCE ? Z_RES_P(value) : NULL;
}

static struct mst_known *place_of(const void *thing, uint32_t probe)
{
    uint64_t hash = (uint64_t)(uintptr_t)thing * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    return &MPMSTAT_G(waits).known[(hash + probe) % MPMSTAT_KNOWN];
}

static uint64_t known_of(const void *thing)
{
    uint32_t probe;

    if (!thing || !MPMSTAT_G(waits).has_known)
        return NOTHING;
    for (probe = 0; probe < PROBES; probe++)
        if (place_of(thing, probe)->thing == thing)
            return place_of(thing, probe)->wait;
    return NOTHING;
}

/* Notes what a thing waits for. NOTHING: what is noted for this address was another thing's. Where
 * all places are taken, the last one loses its entry: that object's calls are counted under the
 * name of their line. */
static void remember(const void *thing, uint64_t wait)
{
    struct mst_known *k = NULL;
    uint32_t probe;

    if (!thing || (wait == NOTHING && !MPMSTAT_G(waits).has_known))
        return;
    for (probe = 0; probe < PROBES; probe++) {
        k = place_of(thing, probe);
        if (k->thing == thing || k->thing == NULL)
            break;
    }
    *k = (struct mst_known){ thing, wait };
    MPMSTAT_G(waits).has_known = true;
}

void mst_ends_forget_things(void)
{
    struct mst_waits *w = &MPMSTAT_G(waits);

    if (w->has_known)
        memset(w->known, 0, sizeof w->known);
    w->has_known = false;
}

/* ---- arguments ---------------------------------------------------------------------------- */

/* Argument n, from 0; NULL: it was not given. */
static zval *argument(zend_execute_data *call, uint32_t n)
{
    zval *value;

    if (ZEND_CALL_NUM_ARGS(call) <= n)
        return NULL;
    value = ZEND_CALL_ARG(call, n + 1);
    ZVAL_DEREF(value);
    return value;
}

static struct part text_of(const zval *value)
{
    if (!value || Z_TYPE_P(value) != IS_STRING)
        return (struct part){ NULL, 0 };
    return (struct part){ Z_STRVAL_P(value), Z_STRLEN_P(value) };
}

static struct part text_argument(zend_execute_data *call, uint32_t n)
{
    return text_of(argument(call, n));
}

/* Writes a port to `to`; the standard one where the value has none. */
static struct part port_of(const zval *value, const char *standard, char to[16])
{
    if (value && Z_TYPE_P(value) == IS_LONG && Z_LVAL_P(value) > 0) {
        snprintf(to, 16, "%ld", (long)Z_LVAL_P(value));
        return part_of(to);
    }
    if (value && Z_TYPE_P(value) == IS_STRING && Z_STRLEN_P(value) > 0)
        return text_of(value);
    return part_of(standard);
}

/* The object or resource that the function is called for: the object of a method, or else the first
 * argument. */
static const void *subject_of(zend_execute_data *call)
{
    zval *first;

    if (Z_TYPE(call->This) == IS_OBJECT)
        return Z_OBJ(call->This);
    first = argument(call, 0);
    return first ? thing_in(first) : NULL;
}

static uint64_t wait_of_subject(struct mst_wait_line *line, zend_execute_data *call)
{
    uint64_t known = known_of(subject_of(call));

    return known != NOTHING ? known : mst_wait_default(line);
}

/* ---- URLs --------------------------------------------------------------------------------- */

struct url {
    struct part scheme, host, port;
};

/* Reads SCHEME://[USER@]HOST[:PORT][/...]. False: the text is no URL. To PHP, schemes have at least
 * two characters. */
static bool read_url(struct part text, struct url *url)
{
    const char *end = text.text + text.length, *at, *stop, *colon;
    size_t i = 0;

    memset(url, 0, sizeof *url);
    while (i < text.length && (isalnum((unsigned char)text.text[i]) || strchr("+-.", text.text[i])))
        i++;
    if (i < 2 || i + 3 > text.length || memcmp(text.text + i, "://", 3) != 0)
        return false;
    url->scheme = (struct part){ text.text, i };
    at = text.text + i + 3;
    for (stop = at; stop < end && !strchr("/?#", *stop); stop++)
        if (*stop == '@')
            at = stop + 1;
    for (colon = stop; colon > at && isdigit((unsigned char)colon[-1]); colon--)
        ;
    if (colon > at && colon[-1] == ':') {
        url->port = (struct part){ colon, (size_t)(stop - colon) };
        stop = colon - 1;
    }
    url->host = (struct part){ at, (size_t)(stop - at) };
    return true;
}

static uint64_t wait_of_http(const struct url *url)
{
    bool is_tls = starts_with(url->scheme, "https");
    struct part port = url->port;

    if (port.length == 0)
        port = part_of(is_tls ? "443" : "80");
    return intern_host(MST_WAIT_HTTP, part_of("http"), url->host, port);
}

/* Whether PHP fetches such a URL itself, over the network. */
static bool is_distant(const struct url *url)
{
    return starts_with(url->scheme, "http") || starts_with(url->scheme, "ftp");
}

static uint64_t wait_of_path(struct mst_wait_line *line, struct part path)
{
    struct url url;

    if (!path.text || !read_url(path, &url) || !is_distant(&url))
        return mst_wait_default(line);
    if (starts_with(url.scheme, "ftp"))
        return intern_host(MST_WAIT_STREAM, url.scheme, url.host,
                           url.port.length ? url.port : part_of("21"));
    return wait_of_http(&url);
}

/* ---- whether a call can wait -------------------------------------------------------------- */

static bool may_be_distant(zend_execute_data *call)
{
    struct part path = text_argument(call, 0);
    struct url url;

    return path.text && read_url(path, &url) && is_distant(&url);
}

/* A plain file or a distant one; neither memory, nor a wrapper in PHP, whose own calls count. */
static bool may_be_file(zend_execute_data *call)
{
    struct part path = text_argument(call, 0);
    struct url url;

    if (!path.text || starts_with(path, "data:"))
        return false;
    return !read_url(path, &url) || is_distant(&url) || starts_with(url.scheme, "file");
}

static php_stream *stream_of(zend_execute_data *call)
{
    zval *first = argument(call, 0);

    if (first && Z_TYPE_P(first) == IS_RESOURCE
        && (Z_RES_P(first)->type == stream_type || Z_RES_P(first)->type == persistent_stream_type))
        return Z_RES_P(first)->ptr;
    return NULL;
}

static bool is_socket(const php_stream *stream)
{
    return strstr(stream->ops->label, "socket") != NULL;
}

/* Files, pipes and sockets; neither memory nor wrappers in PHP. */
static bool is_outside(const php_stream *stream)
{
    return stream && (stream->ops == &php_stream_stdio_ops || is_socket(stream));
}

static bool reaches_out(zend_execute_data *call)
{
    return is_outside(stream_of(call));
}

static size_t buffered(const php_stream *stream)
{
    return stream->writepos > stream->readpos ? (size_t)(stream->writepos - stream->readpos) : 0;
}

static bool reads_some(zend_execute_data *call)
{
    php_stream *stream = stream_of(call);

    return is_outside(stream) && buffered(stream) == 0;
}

static bool reads_bytes(zend_execute_data *call)
{
    php_stream *stream = stream_of(call);
    zval *length = argument(call, 1);

    return is_outside(stream) && !(length && Z_TYPE_P(length) == IS_LONG
                                   && (zend_ulong)Z_LVAL_P(length) <= buffered(stream));
}

static bool reads_line(zend_execute_data *call)
{
    php_stream *stream = stream_of(call);

    return is_outside(stream)
        && !(buffered(stream) > 0
             && memchr(stream->readbuf + stream->readpos, '\n', buffered(stream)));
}

/* ---- what a call waited for --------------------------------------------------------------- */

#define END(name) \
    static uint64_t end_##name(struct mst_wait_line *line, zend_execute_data *call, zval *result)

END(fixed)
{
    (void)call, (void)result;
    return mst_wait_default(line);
}

END(subject)
{
    (void)result;
    return wait_of_subject(line, call);
}

/* The result speaks to the same other end as the subject. */
END(made)
{
    uint64_t wait = wait_of_subject(line, call);

    remember(thing_in(result), wait);
    return wait;
}

/* A constructor: the object speaks to the same other end as the first argument. */
END(made_of)
{
    zval *first = argument(call, 0);
    uint64_t known = known_of(first ? thing_in(first) : NULL);
    uint64_t wait = known != NOTHING ? known : mst_wait_default(line);

    (void)result;
    remember(subject_of(call), wait);
    return wait;
}

/* Remembers for the object of a constructor or method; else for an object that the first argument
 * is; else for the result. */
static uint64_t connected(zend_execute_data *call, zval *result, uint64_t wait)
{
    const void *subject = subject_of(call);

    remember(subject ? subject : thing_in(result), wait);
    return wait;
}

static struct part setting(const char *name)
{
    return part_of(zend_ini_string_ex((char *)name, strlen(name), 0, NULL));
}

/* mysqli's functions that connect: ([link,] host, user, password, database, port, socket). */
END(mysql)
{
    uint32_t from = Z_TYPE(call->This) != IS_OBJECT && subject_of(call) ? 1 : 0;
    struct part host = text_argument(call, from), port;
    char digits[16];

    (void)line;
    if (!host.text)
        host = setting("mysqli.default_host");
    if (starts_with(host, "p:"))
        host = (struct part){ host.text + 2, host.length - 2 };
    port = port_of(argument(call, from + 4), setting("mysqli.default_port").text, digits);
    if (starts_with(host, "localhost") && host.length == strlen("localhost"))
        port.length = 0;
    return connected(call, result,
                     intern_host(MST_WAIT_DATABASE, part_of("mysql"), host, port));
}

/* The value of "NAME=VALUE" among pairs with separators; its length is 0 where there is no such
 * pair. */
static struct part value_in(struct part text, const char *name, const char *separators)
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
            return (struct part){ at, (size_t)(stop - at) };
        }
        at = stop;
    }
    return (struct part){ NULL, 0 };
}

static struct part standard_port(struct part driver)
{
    if (starts_with(driver, "mysql"))
        return part_of("3306");
    return part_of(starts_with(driver, "pgsql") ? "5432" : "");
}

/* "DRIVER:host=...;port=..."; of others than servers only the driver. */
static uint64_t wait_of_dsn(struct mst_wait_line *line, struct part dsn)
{
    const char *colon = dsn.text ? memchr(dsn.text, ':', dsn.length) : NULL;
    struct part driver, rest, host, port;
    struct name n = { "", 0 };
    bool is_server;

    if (!colon || starts_with(dsn, "uri:"))
        return mst_wait_default(line);
    driver = (struct part){ dsn.text, (size_t)(colon - dsn.text) };
    rest = (struct part){ colon + 1, dsn.length - driver.length - 1 };
    host = value_in(rest, "host", "; ");
    is_server = starts_with(driver, "mysql") || starts_with(driver, "pgsql");
    if (!is_server && host.length == 0) {
        append_lower(&n, driver);
        return intern(MST_WAIT_DATABASE, n.text);
    }
    port = value_in(rest, "port", "; ");
    if (port.length == 0)
        port = standard_port(driver);
    if (value_in(rest, "unix_socket", ";").length > 0)
        host.length = 0;
    if (starts_with(driver, "mysql") && starts_with(host, "localhost")
        && host.length == strlen("localhost"))
        port.length = 0;
    return intern_host(MST_WAIT_DATABASE, driver, host, port);
}

END(pdo)
{
    return connected(call, result, wait_of_dsn(line, text_argument(call, 0)));
}

END(pgsql)
{
    struct part text = text_argument(call, 0), host, port;
    uint64_t wait;

    (void)line;
    host = value_in(text, "host", " ");
    if (host.length == 0)
        host = value_in(text, "hostaddr", " ");
    port = value_in(text, "port", " ");
    wait = intern_host(MST_WAIT_DATABASE, part_of("pgsql"), host,
                       port.length ? port : part_of("5432"));
    remember(thing_in(result), wait);
    return wait;
}

/* (host, port, ...) of a method. */
static uint64_t wait_of_host(zend_execute_data *call, uint32_t kind, const char *service,
                             const char *standard)
{
    char digits[16];

    return intern_host(kind, part_of(service), text_argument(call, 0),
                       port_of(argument(call, 1), standard, digits));
}

END(redis)
{
    (void)line;
    return connected(call, result, wait_of_host(call, MST_WAIT_CACHE, "redis", "6379"));
}

/* A client of several servers is not named after any of them. */
static void remember_server(struct mst_wait_line *line, const void *client, uint64_t wait)
{
    uint64_t known = known_of(client);

    remember(client, known == NOTHING || known == wait ? wait : mst_wait_default(line));
}

END(memcached)
{
    uint64_t wait = wait_of_host(call, MST_WAIT_CACHE, "memcached", "11211");

    (void)result;
    remember_server(line, subject_of(call), wait);
    return wait;
}

/* An array of [host, port, ...]. */
END(memcacheds)
{
    zval *servers = argument(call, 0), *server, *host, *port;
    char digits[16];

    (void)result;
    if (!servers || Z_TYPE_P(servers) != IS_ARRAY)
        return mst_wait_default(line);
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(servers), server) {
        if (Z_TYPE_P(server) != IS_ARRAY)
            continue;
        host = zend_hash_index_find(Z_ARRVAL_P(server), 0);
        port = zend_hash_index_find(Z_ARRVAL_P(server), 1);
        remember_server(line, subject_of(call),
                        intern_host(MST_WAIT_CACHE, part_of("memcached"), text_of(host),
                                    port_of(port, "11211", digits)));
    } ZEND_HASH_FOREACH_END();
    return wait_of_subject(line, call);
}

/* libcurl takes a URL without a scheme for one with http. */
static uint64_t wait_of_curl(struct mst_wait_line *line, struct part text)
{
    struct name with_scheme = { "http://", 7 };
    struct url url;

    if (text.length == 0)
        return mst_wait_default(line);
    if (read_url(text, &url))
        return wait_of_http(&url);
    append(&with_scheme, text);
    read_url((struct part){ with_scheme.text, with_scheme.length }, &url);
    return wait_of_http(&url);
}

END(curl_url)
{
    uint64_t wait = wait_of_curl(line, text_argument(call, 0));

    remember(thing_in(result), wait);
    return wait;
}

END(curl_option)
{
    zval *option = argument(call, 1);

    (void)result;
    if (option && Z_TYPE_P(option) == IS_LONG && Z_LVAL_P(option) == CURL_OPTION_URL)
        remember(subject_of(call), wait_of_curl(line, text_argument(call, 2)));
    return NOTHING;
}

END(curl_options)
{
    zval *options = argument(call, 1), *url = NULL;

    (void)result;
    if (options && Z_TYPE_P(options) == IS_ARRAY)
        url = zend_hash_index_find(Z_ARRVAL_P(options), CURL_OPTION_URL);
    if (url)
        remember(subject_of(call), wait_of_curl(line, text_of(url)));
    return NOTHING;
}

END(curl_reset)
{
    (void)result;
    remember(subject_of(call), mst_wait_default(line));
    return NOTHING;
}

END(path)
{
    (void)result;
    return wait_of_path(line, text_argument(call, 0));
}

/* __doRequest(request, location, ...) */
END(soap)
{
    (void)result;
    return wait_of_path(line, text_argument(call, 1));
}

END(opened)
{
    struct part path = text_argument(call, 0);
    uint64_t wait = wait_of_path(line, path);

    /* A file is known by its stream: only what is not a file is remembered. */
    remember(thing_in(result), wait != mst_wait_default(line) ? wait : NOTHING);
    return wait;
}

END(opened_process)
{
    (void)call;
    remember(thing_in(result), mst_wait_default(line));
    return mst_wait_default(line);
}

/* TRANSPORT://HOST:PORT, or HOST and PORT: over TCP. */
static uint64_t wait_of_socket(struct part address, struct part port)
{
    struct url url;

    if (!address.text || !read_url(address, &url))
        url = (struct url){ part_of("tcp"), address, port };
    else if (url.port.length == 0)
        url.port = port;
    if (starts_with(url.scheme, "ud") || starts_with(url.scheme, "unix"))
        url.host.length = starts_with(url.scheme, "udp") ? url.host.length : 0;
    return intern_host(MST_WAIT_STREAM, url.scheme, url.host, url.port);
}

END(socket_address)
{
    char digits[16];
    uint64_t wait = wait_of_socket(text_argument(call, 0),
                                   port_of(argument(call, 1), "", digits));

    (void)line;
    remember(thing_in(result), wait);
    return wait;
}

/* HOST:PORT or TRANSPORT://HOST:PORT */
END(socket_url)
{
    struct part address = text_argument(call, 0);
    struct name with_scheme = { "tcp://", 6 };
    struct url url;
    uint64_t wait;

    (void)line;
    if (address.text && !read_url(address, &url)) {
        append(&with_scheme, address);
        address = (struct part){ with_scheme.text, with_scheme.length };
    }
    wait = wait_of_socket(address, part_of(""));
    remember(thing_in(result), wait);
    return wait;
}

/* socket_connect(socket, address, port) */
END(socket_peer)
{
    char digits[16];
    struct part port = port_of(argument(call, 2), "", digits);
    bool is_unix = port.length == 0;
    uint64_t wait = intern_host(MST_WAIT_STREAM, part_of(is_unix ? "unix" : "tcp"),
                                is_unix ? part_of("") : text_argument(call, 1), port);

    (void)line, (void)result;
    remember(subject_of(call), wait);
    return wait;
}

/* fopen() of http remembers what the stream is connected to; else its type tells. */
END(stream)
{
    php_stream *stream = stream_of(call);
    uint64_t known;

    (void)result;
    if (stream && MPMSTAT_G(waits).has_known) {
        known = known_of(stream->res);
        if (known != NOTHING)
            return known;
    }
    if (!stream || stream->ops != &php_stream_stdio_ops)
        return mst_wait_default(line);
    if (stream->flags & PHP_STREAM_FLAG_NO_SEEK)
        return intern_once(&pipe_end, MST_WAIT_PROCESS, "process");
    return intern_once(&file_end, MST_WAIT_FILE, "file");
}

/* ---- the table ---------------------------------------------------------------------------- */

#define always NULL
#define MST_WAIT(treatment, class_name, function, kind, name, can_wait, end, failure) \
    { class_name, function, MST_WAIT_##kind, name, can_wait, end_##end, MST_FAILS_##failure, \
      MST_IS_##treatment, 0 },
struct mst_wait_line mst_wait_lines[] = {
#include "waits.def"
};
#undef MST_WAIT
const uint32_t mst_wait_line_count = sizeof mst_wait_lines / sizeof mst_wait_lines[0];
