/* fuzz_path.c - any bytes as the target of a request: the page's name is printable, and fits. */
#include <stdlib.h>
#include <string.h>

#include "write/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool right)
{
    if (!right)
        abort();
}

static void check(const char *target, bool is_file)
{
    char name[MST_PATH_NAME_MAX], again[MST_PATH_NAME_MAX];
    size_t length, i;

    memset(name, 0xff, sizeof name);
    if (!mst_path_fold(target, is_file, name))
        return;
    length = strnlen(name, sizeof name);
    expect(length > 0 && length < sizeof name && name[0] == '/');
    for (i = 0; i < length; i++)
        expect(name[i] > ' ' && name[i] <= '~' && strchr("?#;\"<>\\", name[i]) == NULL);
    for (; i < sizeof name; i++)
        expect(name[i] == '\0');
    expect(strstr(name, "//") == NULL && strstr(name, "/./") == NULL
           && strstr(name, "/../") == NULL);
    if (is_file || strchr(name, '{') != NULL || length == sizeof name - 1)
        return;
    expect(mst_path_fold(name, false, again) && strcmp(again, name) == 0);   /* one spelling */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *target = malloc(size + 1);

    expect(target != NULL);
    memcpy(target, data, size);
    target[size] = '\0';
    check(target, false);
    check(target, true);
    free(target);
    return 0;
}
