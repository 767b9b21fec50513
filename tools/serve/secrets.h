/* secrets.h - the certificate, key and token of mpmstat serve. They are read from files, whose
 * owner and mode are checked. */
#ifndef MPMSTAT_SERVE_SECRETS_H
#define MPMSTAT_SERVE_SECRETS_H

#include <stdbool.h>

#include "base/error.h"

#define MST_TOKEN_MIN 16u     /* characters: fewer can be guessed */
#define MST_TOKEN_MAX 512u

/* The user's name for a browser's password dialogue; the password is the token. */
#define MST_TOKEN_USER "mpmstat"

/* Paths; NULL: there is none. A certificate has a key. */
struct mst_secret_files { const char *certificate, *key, *client_ca, *token; };

#define MST_DIGEST_BYTES 32u  /* SHA-256 */

/* What is read of them: texts on the heap, NULL where there is no file. */
struct mst_secrets {
    char         *certificate, *key, *client_ca;
    bool          has_token;
    /* Digests of what may stand behind "Bearer " and "Basic " in Authorization. */
    unsigned char bearer[MST_DIGEST_BYTES], basic[MST_DIGEST_BYTES];
};

/* Reads and checks all of them. Returns 0, or -1 with a sentence. Free it in either case. */
int mst_secrets_load(struct mst_secrets *secrets, const struct mst_secret_files *files,
                     char error[MST_ERROR_MAX]);
void mst_secrets_free(struct mst_secrets *secrets);

/* Whether a request's header Authorization has the token. NULL: the request has no such header.
 * The time that it takes does not depend on how much of a wrong token is right. */
bool mst_secrets_have_token(const struct mst_secrets *secrets, const char *authorization);

#endif
