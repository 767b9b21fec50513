/* shell_quote.h - a command as text. */
#ifndef MPMSTAT_SHELL_QUOTE_H
#define MPMSTAT_SHELL_QUOTE_H

/* The command as a shell would read it, and as a JSON array of strings. argv ends with NULL, or is
 * NULL: no words. NULL: out of memory. Free with free(). */
char *mst_shell_quote(char *const *argv);
char *mst_argv_json(char *const *argv);

/* What a load command has in it, for the page's address. */
#define MST_URL_MARK "${URL}"

#endif
