/* end_url.h - URLs that scripts open. */
#ifndef MPMSTAT_PHP_END_URL_H
#define MPMSTAT_PHP_END_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "end_name.h"

struct mst_url {
    struct mst_part scheme, host, port;
};

/* Reads SCHEME://[USER@]HOST[:PORT][/...]. False: the text is not a URL. To PHP, schemes have at
 * least two characters. */
bool mst_url_read(struct mst_part text, struct mst_url *url);

/* Whether PHP fetches such a URL itself, over the network. */
bool mst_url_is_distant(const struct mst_url *url);

uint64_t mst_url_wait_of_http(const struct mst_url *url);

/* The wait of a function that opens a path: of http or ftp; else the own end. */
uint64_t mst_url_wait_of_path(struct mst_part path, struct mst_own_end *own);

#endif
