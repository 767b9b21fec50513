/* end_url.c - URLs that scripts open. */
#include "end_url.h"

#include <ctype.h>
#include <string.h>

bool mst_url_read(struct mst_part text, struct mst_url *url)
{
    const char *end = text.text + text.length, *at, *stop, *colon;
    size_t i = 0;

    memset(url, 0, sizeof *url);
    while (i < text.length && (isalnum((unsigned char)text.text[i]) || strchr("+-.", text.text[i])))
        i++;
    if (i < 2 || i + 3 > text.length || memcmp(text.text + i, "://", 3) != 0)
        return false;
    url->scheme = (struct mst_part){ text.text, i };
    at = text.text + i + 3;
    for (stop = at; stop < end && !strchr("/?#", *stop); stop++)
        if (*stop == '@')
            at = stop + 1;
    for (colon = stop; colon > at && isdigit((unsigned char)colon[-1]); colon--)
        ;
    if (colon > at && colon[-1] == ':') {
        url->port = (struct mst_part){ colon, (size_t)(stop - colon) };
        stop = colon - 1;
    }
    url->host = (struct mst_part){ at, (size_t)(stop - at) };
    return true;
}

uint64_t mst_url_wait_of_http(const struct mst_url *url)
{
    bool is_tls = mst_part_starts_with(url->scheme, "https");
    struct mst_part port = url->port;

    if (port.length == 0)
        port = mst_part_of(is_tls ? "443" : "80");
    return mst_wait_of_host(MST_WAIT_HTTP, mst_part_of("http"), url->host, port);
}

bool mst_url_is_distant(const struct mst_url *url)
{
    return mst_part_starts_with(url->scheme, "http") || mst_part_starts_with(url->scheme, "ftp");
}

uint64_t mst_url_wait_of_path(struct mst_part path, struct mst_own_end *own)
{
    struct mst_url url;

    if (!path.text || !mst_url_read(path, &url) || !mst_url_is_distant(&url))
        return mst_wait_of_own(own);
    if (mst_part_starts_with(url.scheme, "ftp"))
        return mst_wait_of_host(MST_WAIT_STREAM, url.scheme, url.host,
                                url.port.length ? url.port : mst_part_of("21"));
    return mst_url_wait_of_http(&url);
}
