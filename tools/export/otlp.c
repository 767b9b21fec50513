/* otlp.c - writes OTLP's JSON: see otlp.h. */
#include "export/otlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segment/format.h"

void mst_otlp_integer(struct mst_json *j, const char *key, uint64_t n)
{
    mst_json_value(j, key);
    mst_sink_char(j->out, '"');
    mst_sink_u64(j->out, n);
    mst_sink_char(j->out, '"');
}

static void begin_attribute(struct mst_json *j, const char *name)
{
    mst_json_begin(j, NULL, '{');
    mst_json_string(j, "key", name);
    mst_json_begin(j, "value", '{');
}

static void end_attribute(struct mst_json *j)
{
    mst_json_end(j, '}');
    mst_json_end(j, '}');
}

void mst_otlp_text(struct mst_json *j, const char *name, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return;
    begin_attribute(j, name);
    mst_json_string(j, "stringValue", text);
    end_attribute(j);
}

void mst_otlp_number(struct mst_json *j, const char *name, uint64_t n)
{
    if (n > INT64_MAX)
        return;
    begin_attribute(j, name);
    mst_otlp_integer(j, "intValue", n);
    end_attribute(j);
}

void mst_otlp_flag(struct mst_json *j, const char *name, bool is_true)
{
    begin_attribute(j, name);
    mst_json_bool(j, "boolValue", is_true);
    end_attribute(j);
}

/* Where the address begins: behind the kind ("mysql ") or the scheme ("fcgi://"). */
static const char *address_in(const char *end)
{
    const char *blank = strrchr(end, ' '), *scheme;

    if (strncmp(end, "unix:", 5) == 0)
        return end + 5;
    end = blank != NULL ? blank + 1 : end;
    scheme = strstr(end, "://");
    return scheme != NULL ? scheme + 3 : end;
}

void mst_otlp_address(struct mst_json *j, const char *end)
{
    const char *at = address_in(end), *port;
    char address[MST_NAME_MAX];
    size_t length;

    if (at == end && at[0] != '[')
        return;   /* a name without a scheme or a kind */
    if (at[0] == '/') {   /* a socket's file */
        length = strcspn(at, "|");
        port = "";
    } else if (at[0] == '[') {
        at++;
        length = strcspn(at, "]");
        port = at[length] != '\0' ? at + length + 1 : "";
    } else {
        length = strcspn(at, ":/|");
        port = at + length;
    }
    if (length == 0 || length >= sizeof address)
        return;
    memcpy(address, at, length);
    address[length] = '\0';
    mst_otlp_text(j, "server.address", address);
    if (port[0] == ':' && port[1] >= '1' && port[1] <= '9')
        mst_otlp_number(j, "server.port", strtoul(port + 1, NULL, 10));
}

/* ---- whose they are ------------------------------------------------------------------------ */

/* A board's path is unique on its host, a status URL everywhere. */
static void add_instance(struct mst_json *j, const struct mst_otlp_resource *r)
{
    char instance[1024];

    snprintf(instance, sizeof instance, "%s%s%s", strstr(r->target, "://") != NULL ? "" : r->host,
             strstr(r->target, "://") != NULL ? "" : ":", r->target);
    mst_otlp_text(j, "service.instance.id", instance);
}

void mst_otlp_resource(struct mst_json *j, const struct mst_otlp_resource *r)
{
    mst_json_begin(j, "resource", '{');
    mst_json_begin(j, "attributes", '[');
    mst_otlp_text(j, "service.name", r->service);
    add_instance(j, r);
    mst_otlp_text(j, "host.name", r->host);
    mst_otlp_number(j, "process.pid", r->pid);
    mst_otlp_text(j, "webengine.name", r->is_apache ? "Apache" : NULL);
    mst_otlp_text(j, "webengine.description", r->server);
    mst_otlp_text(j, "mpmstat.mpm", r->mpm);
    mst_otlp_text(j, "mpmstat.target", r->target);
    mst_json_end(j, ']');
    mst_json_end(j, '}');
}

void mst_otlp_host(char *host, size_t size, const char *target, const char *given)
{
    const char *at = strstr(target, "://");
    size_t length;

    host[0] = '\0';
    if (at == NULL) {
        if (given != NULL)
            strncat(host, given, size - 1);
        else if (gethostname(host, size) != 0)
            host[0] = '\0';
        host[size - 1] = '\0';
        return;
    }
    at += 3;
    length = at[0] == '[' ? strcspn(at, "]") + 1 : strcspn(at, ":/?");
    strncat(host, at, length < size ? length : size - 1);
}

void mst_otlp_scope(struct mst_json *j)
{
    mst_json_begin(j, "scope", '{');
    mst_json_string(j, "name", "mpmstat");
    mst_json_string(j, "version", MPMSTAT_VERSION);
    mst_json_end(j, '}');
}
