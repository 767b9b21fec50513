/* shallow_bind.c - dlopen() without RTLD_DEEPBIND, preloaded into PHP by the tests of a build
 * with sanitizers: PHP loads its extensions with that flag, and AddressSanitizer refuses it.
 */
#include <dlfcn.h>

/* In front of the sanitizer's own. */
__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int);

    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}
