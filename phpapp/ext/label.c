/* label.c - the label that the present request is tallied under.
 *
 * mpmstat.label where set (php_admin_value, .htaccess); else FPM's pool, which only the
 * process's title tells; else "default". Not the server's name: a client chooses that.
 */
#include "php_mpmstat.h"

#include <stdio.h>
#include <string.h>

#define UNNAMED "default"

/* FPM names the process after it has changed its root (chroot), where there is no /proc:
 * so what tells the name is opened before, and read at the first request. */
static int title_fd = -1;
static char pool_name[MST_NAME_MAX];   /* empty: none is known */

void mst_label_join(void)
{
    title_fd = mst_place_title_open();
}

/* "php-fpm: pool NAME", as FPM shows its workers; another title has none. */
void mst_label_learn(void)
{
    static const char marker[] = ": pool ";
    char title[256];
    const char *pool;

    if (title_fd < 0)
        return;
    mst_place_title_read(title_fd, title, sizeof title);
    title_fd = -1;
    pool = strstr(title, marker);
    if (pool == NULL)
        return;
    pool += sizeof marker - 1;
    snprintf(pool_name, sizeof pool_name, "%.*s", (int)strcspn(pool, " "), pool);
}

void mst_label_choose(void)
{
    const char *name = MPMSTAT_G(label);

    if (name == NULL || *name == '\0')
        name = *pool_name ? pool_name : UNNAMED;
    if (strncmp(name, MPMSTAT_G(label_name), MST_NAME_MAX - 1) == 0)
        return;
    snprintf(MPMSTAT_G(label_name), MST_NAME_MAX, "%s", name);
    MPMSTAT_G(label_index) = mst_label_intern(&mst_php.board, name);
}
