/* secrets.c - the certificate, key and token of mpmstat serve: see secrets.h. */
#include "serve/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"

#define FILE_MAX (1u << 20)   /* bytes: a client's authorities can be many */

static void forget(char *text)
{
    if (text != NULL)
        gnutls_memset(text, 0, strlen(text));
    free(text);
}

/* ---- files --------------------------------------------------------------------------------- */

/* A group may read it: systemd's credentials have the mode 0440. */
static int check_private(const char *path, const struct stat *st, char error[MST_ERROR_MAX])
{
    if ((st->st_mode & 027) != 0)
        return mst_fail(error, "%s: expected a file that only its owner can write and that others "
                        "cannot read, found the mode %04o: chmod 600 %s", path,
                        (unsigned)st->st_mode & 07777, path);
    if (!mst_owner_is_ours(st->st_uid))
        return mst_fail(error, "%s: expected a file of root or of the user that serves, found one "
                        "of user %lu", path, (unsigned long)st->st_uid);
    return 0;
}

static ssize_t read_all(int fd, char *to, size_t size)
{
    size_t used = 0;
    ssize_t n;

    while (used < size && (n = read(fd, to + used, size - used)) != 0) {
        if (n < 0)
            return -1;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

static int take_file(char **text, const char *path, int fd, bool is_private,
                     char error[MST_ERROR_MAX])
{
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) != 0)
        return mst_fail(error, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
        return mst_fail(error, "%s: expected a file of at most %u bytes", path, FILE_MAX);
    if (is_private && check_private(path, &st, error) != 0)
        return -1;
    *text = calloc(1, (size_t)st.st_size + 1);
    if (*text == NULL)
        return mst_fail(error, "out of memory");
    n = read_all(fd, *text, (size_t)st.st_size);
    if (n < 0)
        return mst_fail(error, "%s: %s", path, strerror(errno));
    if (strlen(*text) != (size_t)n)
        return mst_fail(error, "%s: expected a text file, found a NUL in it", path);
    return 0;
}

/* Reads a file whole, on the heap. A path of NULL leaves *text as it is. */
static int read_file(char **text, const char *path, bool is_private, char error[MST_ERROR_MAX])
{
    int fd, result;

    if (path == NULL)
        return 0;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return mst_fail(error, "%s: %s", path, strerror(errno));
    result = take_file(text, path, fd, is_private, error);
    close(fd);
    return result;
}

/* ---- TLS ----------------------------------------------------------------------------------- */

static gnutls_datum_t datum(char *text)
{
    return (gnutls_datum_t){ (unsigned char *)text, (unsigned)strlen(text) };
}

/* The server's library would only say that it cannot start. */
static int check_tls(const struct mst_secrets *s, const struct mst_secret_files *files,
                     char error[MST_ERROR_MAX])
{
    gnutls_certificate_credentials_t all;
    gnutls_datum_t certificate = datum(s->certificate), key = datum(s->key), ca;
    int result;

    if (gnutls_certificate_allocate_credentials(&all) != 0)
        return mst_fail(error, "out of memory");
    result = gnutls_certificate_set_x509_key_mem(all, &certificate, &key, GNUTLS_X509_FMT_PEM);
    if (result < 0)
        mst_fail(error, "%s and %s: expected a certificate and its key, in PEM and without a "
                 "password: %s", files->certificate, files->key, gnutls_strerror(result));
    if (result >= 0 && s->client_ca != NULL) {
        ca = datum(s->client_ca);
        result = gnutls_certificate_set_x509_trust_mem(all, &ca, GNUTLS_X509_FMT_PEM);
        if (result <= 0)
            mst_fail(error, "%s: expected certificates of authorities in PEM, found %s",
                     files->client_ca, result < 0 ? gnutls_strerror(result) : "none");
        result = result > 0 ? 0 : -1;
    }
    gnutls_certificate_free_credentials(all);
    return result < 0 ? -1 : 0;
}

/* ---- the token ----------------------------------------------------------------------------- */

static bool digest(unsigned char to[MST_DIGEST_BYTES], const char *text)
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), to) == 0;
}

/* The word that browsers make of a user's name and password. */
static bool digest_basic(unsigned char to[MST_DIGEST_BYTES], const char *token)
{
    char text[sizeof MST_TOKEN_USER + 1 + MST_TOKEN_MAX];
    gnutls_datum_t plain, coded;
    bool fine;

    snprintf(text, sizeof text, MST_TOKEN_USER ":%s", token);
    plain = datum(text);
    fine = gnutls_base64_encode2(&plain, &coded) == 0;
    if (fine) {
        fine = gnutls_hash_fast(GNUTLS_DIG_SHA256, coded.data, coded.size, to) == 0;
        gnutls_memset(coded.data, 0, coded.size);
        gnutls_free(coded.data);
    }
    gnutls_memset(text, 0, sizeof text);
    return fine;
}

/* A line of printable ASCII without blanks. Its end is cut off. */
static bool is_token(char *text)
{
    size_t length = strcspn(text, "\r\n"), i;

    if (strspn(text + length, "\r\n") != strlen(text + length))
        return false;
    text[length] = '\0';
    for (i = 0; i < length && text[i] > ' ' && text[i] <= '~'; i++)
        continue;
    return i == length && length >= MST_TOKEN_MIN && length <= MST_TOKEN_MAX;
}

static int load_token(struct mst_secrets *s, const char *path, char error[MST_ERROR_MAX])
{
    char *token = NULL;
    int result = read_file(&token, path, true, error);

    if (result == 0 && token != NULL) {
        if (!is_token(token))
            result = mst_fail(error, "%s: expected one line of %u to %u printable characters "
                              "without blanks, as openssl rand -hex 32 makes", path, MST_TOKEN_MIN,
                              MST_TOKEN_MAX);
        else if (!digest(s->bearer, token) || !digest_basic(s->basic, token))
            result = mst_fail(error, "out of memory");
        s->has_token = result == 0;
    }
    forget(token);
    return result;
}

bool mst_secrets_have_token(const struct mst_secrets *s, const char *authorization)
{
    static const struct { const char *scheme; size_t length; } schemes[] = {
        { "Bearer ", 7 }, { "Basic ", 6 },
    };
    const unsigned char *const expected[] = { s->bearer, s->basic };
    unsigned char found[MST_DIGEST_BYTES];
    size_t i;

    if (authorization == NULL)
        return false;
    for (i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(authorization, schemes[i].scheme, schemes[i].length) == 0)
            return digest(found, authorization + schemes[i].length)
                && gnutls_memcmp(found, expected[i], MST_DIGEST_BYTES) == 0;
    return false;
}

/* ---- together ------------------------------------------------------------------------------ */

int mst_secrets_load(struct mst_secrets *s, const struct mst_secret_files *files,
                     char error[MST_ERROR_MAX])
{
    *s = (struct mst_secrets){ 0 };
    if (read_file(&s->certificate, files->certificate, false, error) != 0
        || read_file(&s->key, files->key, true, error) != 0
        || read_file(&s->client_ca, files->client_ca, false, error) != 0
        || load_token(s, files->token, error) != 0)
        return -1;
    return s->certificate != NULL ? check_tls(s, files, error) : 0;
}

void mst_secrets_free(struct mst_secrets *s)
{
    free(s->certificate);
    forget(s->key);
    free(s->client_ca);
    gnutls_memset(s, 0, sizeof *s);
}
