/* path.c - the pages that requests are for: their paths, folded, in a table of names.
 *
 * The table is a hash table whose entries are never freed. A writer claims an entry by storing the
 * name's hash in it, then stores the name: so two processes that come with the same name at once
 * find the same entry, and none of them waits. A name is looked for in a few entries only: where
 * all of them have other names there is no room.
 *
 * Every worker can write to the table. What is read from it is compared, and is never an index or
 * a length.
 */
#include <string.h>

#include "write/path.h"

#define PROBES      32u   /* entries in which a name can be */
#define DOUBTFUL    4u    /* one of so many entries is also for names of doubtful answers */
#define TOKEN_MIN   16u   /* hexadecimal digits of an id: a word is not so long */
#define EXTENSION_MAX 8u

/* ---- folding --------------------------------------------------------------------------- */

/* What a name has for a byte of a segment, as RFC 3986 sorts them. */
enum byte_class {
    ESCAPED = '-',    /* %XX */
    DIGIT = 'd', HEX = 'x', UNRESERVED = 'u',   /* itself, also where it is escaped: both mean it */
    PLAIN = 'p',      /* itself, where it is not escaped */
    END = 'e'         /* it ends the segment */
};
static const char classes[128 + 1] =
    "e---------------" "----------------"
    "-p-ep-ppppppp" "uue" "dddddddddd" "pe-p-e"
    "pxxxxxxuuuuuuuuu" "uuuuuuuuuuu" "----u"
    "-xxxxxxuuuuuuuuu" "uuuuuuuuuuu" "---u-";

static char class_of(unsigned char byte)
{
    return byte < 128 ? classes[byte] : ESCAPED;
}

static bool ends_path(char c)
{
    return c == '\0' || c == '?' || c == '#';
}

static int hex_value(char c)
{
    char class = class_of((unsigned char)c);

    return class == DIGIT ? c - '0' : class == HEX ? (c | 0x20) - 'a' + 10 : -1;
}

struct folding {
    const char *at;         /* what is left of the target */
    char       *name;
    size_t      length;
    bool        is_cut;
};

static void put(struct folding *f, char byte)
{
    if (f->length < MST_PATH_NAME_MAX - 1)
        f->name[f->length++] = byte;
    else
        f->is_cut = true;
}

/* Puts one byte of a segment, and returns its class. */
static char put_next(struct folding *f)
{
    static const char digits[] = "0123456789ABCDEF";
    bool escaped = f->at[0] == '%' && hex_value(f->at[1]) >= 0 && hex_value(f->at[2]) >= 0;
    unsigned char byte = (unsigned char)(escaped ? hex_value(f->at[1]) << 4 | hex_value(f->at[2])
                                                 : f->at[0]);
    char class = class_of(byte);

    f->at += escaped ? 3 : 1;
    if (class == ESCAPED || (escaped && (class == PLAIN || class == END))) {
        put(f, '%');
        put(f, digits[byte >> 4]);
        put(f, digits[byte & 15]);
        return ESCAPED;
    }
    put(f, (char)byte);
    return class;
}

/* Puts a segment. Whether it is a number, or a long id in hexadecimal digits and dashes. */
static bool put_segment(struct folding *f)
{
    size_t length = 0, digits = 0, letters = 0, dashes = 0;

    for (; class_of((unsigned char)*f->at) != END; length++) {
        char first = *f->at, class = put_next(f);

        digits += class == DIGIT;
        letters += class == HEX;
        dashes += class == UNRESERVED && first == '-';
    }
    return digits > 0 && (digits == length || (digits + letters + dashes == length &&
                                               digits + letters >= TOKEN_MIN));
}

/* Back to the slash before the last one. */
static void remove_segment(struct folding *f)
{
    if (f->length > 1)
        f->length--;
    while (f->length > 1 && f->name[f->length - 1] != '/')
        f->length--;
}

/* Without the parameters behind a semicolon, which can be a session's. */
static void fold_segment(struct folding *f)
{
    size_t begin = f->length, length;

    if (put_segment(f)) {
        f->length = begin;
        f->is_cut = false;
        put(f, '{');
        put(f, 'n');
        put(f, '}');
    }
    while (*f->at != '/' && !ends_path(*f->at))
        f->at++;
    length = f->length - begin;
    if (length > 2 || memcmp(f->name + begin, "..", length) != 0)
        return;
    f->length = begin;   /* "." */
    if (length == 2)
        remove_segment(f);
}

/* Files of a directory are one page by their extension: there can be any number of them. */
static void fold_file(struct folding *f)
{
    size_t slash = f->length, dot, end = f->length;

    while (f->name[slash - 1] != '/')
        slash--;
    for (dot = end; dot > slash && f->name[dot - 1] != '.'; dot--)
        ;
    if (slash == end || f->is_cut)
        return;
    f->length = slash;
    put(f, '*');
    if (dot > slash + 1 && end - dot <= EXTENSION_MAX) {
        memmove(f->name + f->length, f->name + dot - 1, end - dot + 1);
        f->length += end - dot + 1;
    }
}

/* Where the path begins of a request's target; NULL: it has none (OPTIONS *, CONNECT). */
static const char *path_of(const char *target)
{
    const char *host;

    if (target == NULL || target[0] == '/')
        return target;
    host = strstr(target, "://");
    return host != NULL ? host + 3 + strcspn(host + 3, "/?#") : NULL;
}

bool mst_path_fold(const char *target, bool is_file, char name[MST_PATH_NAME_MAX])
{
    struct folding f = { .at = path_of(target), .name = name };

    if (f.at == NULL)
        return false;
    put(&f, '/');
    while (!ends_path(*f.at) && !f.is_cut) {
        if (*f.at == '/') {
            f.at++;
            if (f.name[f.length - 1] != '/')
                put(&f, '/');
        } else {
            fold_segment(&f);
        }
    }
    if (is_file)
        fold_file(&f);
    if (f.is_cut) {
        f.length = f.length < MST_PATH_NAME_MAX - 4 ? f.length : MST_PATH_NAME_MAX - 4;
        memcpy(name + f.length, "...", 3);
        f.length += 3;
    }
    memset(name + f.length, 0, MST_PATH_NAME_MAX - f.length);
    return true;
}

/* ---- the table ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Names that collide are told apart by their bytes. Never 0, nor MST_PATH_RESERVED. */
static uint64_t hash_of(const char name[MST_PATH_NAME_MAX])
{
    uint64_t hash = 0, word;
    size_t i;

    for (i = 0; i < MST_PATH_NAME_MAX && name[i] != '\0'; i += sizeof word) {
        memcpy(&word, name + i, sizeof word);
        hash = mix(hash, word);
    }
    return mix(hash, 0) | UINT64_C(1) << 63;   /* the last bytes, too, decide on the lowest bits */
}

/* An entry whose name is not stored yet is taken for the same name if it has the same hash. Two
 * different names have the same hash with a probability of 2^-63. */
static bool is_of(const struct mst_path *p, uint64_t hash, const char name[MST_PATH_NAME_MAX])
{
    return __atomic_load_n(&p->hash, __ATOMIC_ACQUIRE) == hash
        && (__atomic_load_n(&p->used, __ATOMIC_ACQUIRE) != 1
            || memcmp(p->path, name, MST_PATH_NAME_MAX) == 0);
}

/* False: another process was first. */
static bool claim(struct mst_path *p, uint64_t hash, const char name[MST_PATH_NAME_MAX])
{
    uint64_t nobody = 0;

    if (!__atomic_compare_exchange_n(&p->hash, &nobody, hash, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    memcpy(p->path, name, MST_PATH_NAME_MAX);
    __atomic_store_n(&p->used, 1, __ATOMIC_RELEASE);
    return true;
}

uint32_t mst_path_find(struct mst_board *b, const char name[MST_PATH_NAME_MAX],
                       enum mst_path_answer answer)
{
    uint64_t hash = hash_of(name);
    uint32_t i, at, room = MST_NO_PATH;

    for (i = 0; i < PROBES; i++) {
        at = (uint32_t)(hash + i) & (b->path_count - 1);
        if (is_of(&b->paths[at], hash, name))
            return at;
        if (__atomic_load_n(&b->paths[at].hash, __ATOMIC_RELAXED) != 0)
            continue;
        if (room == MST_NO_PATH && (answer == MST_PATH_GOOD || at % DOUBTFUL == 0))
            room = at;
        if (at % DOUBTFUL == 0)
            break;   /* it would be here, if not before */
    }
    if (answer == MST_PATH_REFUSED)
        return MST_PATH_UNNAMED;
    if (room != MST_NO_PATH
        && (claim(&b->paths[room], hash, name) || is_of(&b->paths[room], hash, name)))
        return room;
    return MST_PATH_OTHER;
}

void mst_path_begin(struct mst_board *b)
{
    static const char *const names[] = {
        [MST_NO_PATH] = "", [MST_PATH_OTHER] = MST_PATH_OTHER_NAME,
        [MST_PATH_UNNAMED] = MST_PATH_UNNAMED_NAME,
    };
    char name[MST_PATH_NAME_MAX];
    uint32_t i;

    for (i = 0; i < sizeof names / sizeof *names && i < b->path_count; i++) {
        memset(name, 0, sizeof name);
        strcpy(name, names[i]);
        claim(&b->paths[i], MST_PATH_RESERVED, name);
    }
}
