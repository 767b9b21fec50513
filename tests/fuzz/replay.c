/* replay.c - main of a fuzz target without a fuzzer: gives it every file named,
 * and every file below a directory named. Run by `make check` over the corpora.
 */
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size + 1);
    int rc = -1;

    if (file != NULL && data != NULL && fread(data, 1, size, file) == size)
        rc = LLVMFuzzerTestOneInput(data, size);
    else
        perror(path);
    if (file != NULL)
        fclose(file);
    free(data);
    replayed++;
    return rc;
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void)place;
    if (type == FTW_F)
        return replay(path, (size_t)st->st_size);
    return type == FTW_D ? 0 : -1;
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (nftw(argv[i], visit, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s: expected every file in %s to be read without complaint\n",
                    argv[0], argv[i]);
            return EXIT_FAILURE;
        }
    }
    printf("%s: %u inputs\n", argv[0], replayed);
    return replayed > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
