/* log_end.c - see log_end.h. */
#include "lab/servers/log_end.h"

#include <stdio.h>

size_t mst_log_end(const char *path, char *text, size_t size)
{
    FILE *in = fopen(path, "re");
    size_t n = 0;

    if (in != NULL) {
        if (fseek(in, -(long)(size - 1), SEEK_END) != 0)
            rewind(in);
        n = fread(text, 1, size - 1, in);
        fclose(in);
    }
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n] = '\0';
    return n;
}
