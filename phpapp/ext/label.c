/* label.c - the label that the present request is tallied under.
 *
 * mpmstat.label where set (php_admin_value, .htaccess); else FPM's pool, which only the
 * process's title tells; else "default". Not the server's name: a client chooses that.
 */
#include "php_mpmstat.h"

#include <stdio.h>
#include <string.h>

#define UNNAMED "default"

/* "php-fpm: pool NAME", as FPM shows its workers. False where the title is another. */
static bool read_pool(char *to, size_t size)
{
    static const char marker[] = ": pool ";
    char title[256];
    const char *pool;

    mst_place_title(title, sizeof title);
    pool = strstr(title, marker);
    if (pool == NULL)
        return false;
    pool += sizeof marker - 1;
    snprintf(to, size, "%.*s", (int)strcspn(pool, " "), pool);
    return *to != '\0';
}

/* The pool is this process's for life; looked up at its first request, as FPM names the
 * process after its fork. */
static const char *name_of_process(void)
{
    static uint64_t joined;
    static char name[MST_NAME_MAX];

    if (joined != mst_php.joins) {
        if (mst_php.sapi != MST_SAPI_FPM || !read_pool(name, sizeof name))
            strcpy(name, UNNAMED);
        joined = mst_php.joins;
    }
    return name;
}

void mst_label_choose(void)
{
    const char *name = MPMSTAT_G(label);

    if (name == NULL || *name == '\0')
        name = name_of_process();
    if (strncmp(name, MPMSTAT_G(label_name), MST_NAME_MAX - 1) == 0)
        return;
    snprintf(MPMSTAT_G(label_name), MST_NAME_MAX, "%s", name);
    MPMSTAT_G(label_index) = mst_label_intern(&mst_php.board, name);
}
