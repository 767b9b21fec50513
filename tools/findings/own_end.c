/* own_end.c - whether what PHP calls is a server of the same run: see own_end.h. */
#include "findings/own_end.h"

#include <stdio.h>
#include <string.h>

#include "archive/query.h"

/* "127.0.0.1:80" and "[::1]:80" in two. */
struct address { char host[160], port[8]; };

static bool parse(struct address *a, const char *text, size_t length)
{
    const char *colon = memrchr(text, ':', length), *end = text + length;
    size_t host;

    if (colon == NULL || (size_t)(end - colon) > sizeof a->port)
        return false;
    host = (size_t)(colon - text);
    if (host >= 2 && text[0] == '[' && text[host - 1] == ']') {
        text++;
        host -= 2;
    }
    if (host >= sizeof a->host)
        return false;
    memcpy(a->host, text, host);
    a->host[host] = '\0';
    snprintf(a->port, sizeof a->port, "%.*s", (int)(end - colon - 1), colon + 1);
    return true;
}

static bool is_any(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0 || strcmp(host, "*") == 0;
}

static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

/* Whether requests of the server have that label: by default the name of their virtual host. */
static bool is_label(struct mst_inquiry *q, const struct mst_summary_server *server,
                     const char *host)
{
    struct mst_query row = mst_query_ask(q->db, "SELECT 1 AS one FROM server_requests "
                                         "WHERE server_id = :id AND label = :host LIMIT 1",
                                         server->id);
    bool found;

    mst_query_set_text(&row, ":host", host);
    found = mst_query_next(&row);
    q->failed |= !mst_query_done(&row);
    return found;
}

static bool listens_at(struct mst_inquiry *q, const struct mst_summary_server *server,
                       const struct address *called)
{
    const char *at = server->listens != NULL ? server->listens : "";
    struct address own;
    size_t length;

    for (; *at != '\0'; at += length + strspn(at + length, " ")) {
        length = strcspn(at, " ");
        if (!parse(&own, at, length) || strcmp(own.port, called->port) != 0)
            continue;
        if (strcmp(own.host, called->host) == 0)
            return true;
        if (is_any(own.host) || is_loopback(own.host))
            return is_loopback(called->host) || is_label(q, server, called->host);
    }
    return false;
}

const struct mst_summary_server *mst_own_end(struct mst_inquiry *q, const char *end)
{
    const char *at = end != NULL ? strchr(end, ' ') : NULL;
    struct address called;
    size_t i;

    if (at == NULL || !parse(&called, at + 1, strlen(at + 1)))
        return NULL;
    for (i = 0; i < q->s->server_count; i++)
        if (!mst_summary_is_php(&q->s->servers[i]) && q->s->servers[i].local &&
            listens_at(q, &q->s->servers[i], &called))
            return &q->s->servers[i];
    return NULL;
}
