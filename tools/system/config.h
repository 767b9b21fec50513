/* config.h - the settings of a running server that advice is about: what stands in its files of
 * configuration, and where.
 *
 * That is what the server reads at its next restart, and what advice is to change. The files can
 * have changed since the server began: whether it runs with what they say now, the reader has to
 * compare. The files are those that the server's own process sees (/proc/PID/root), so they are its
 * own in a container, too. What they say is foreign: only regular files are read, of limited size
 * and number, and of them only the settings in the lists of config_fpm.c and config_httpd.c.
 * Neither servers nor files are read that belong to a user other than root and the reader: else
 * that user would choose what root reads, and what root is advised to change.
 */
#ifndef MPMSTAT_CONFIG_H
#define MPMSTAT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MST_CONFIG_PATH_MAX  256u
#define MST_CONFIG_VALUE_MAX 64u

struct mst_config_setting {
    char     section[64];                /* FPM's pool, or "global"; Apache: "" */
    char     name[40];                   /* as the file has it: "MaxClients" also */
    char     value[MST_CONFIG_VALUE_MAX];
    char     file[MST_CONFIG_PATH_MAX];  /* as the server's process names it */
    uint64_t line;                       /* in the file, from 1 */
    bool     is_doubtful;                /* it is not known which of several is in force */
};

struct mst_config {
    size_t   count;
    struct mst_config_setting *items;    /* each once: the one that is in force */
    char     file[MST_CONFIG_PATH_MAX];  /* with which the server began */
    char     check[512];                 /* a command that tests it; "": not known */
    /* While it is read. */
    uint64_t pid;                        /* 0: of a text alone, there are no other files */
    bool     no_check;                   /* a word of the command cannot be written as it is */
    size_t   files;
    unsigned depth;                      /* of files that include files */
    bool     failed;                     /* a file cannot be read, or not understood */
};

/* Reads what a server was started with; pid: its parent's. False: it is not known, and nothing of
 * *config is to be used but mst_config_free(). */
bool mst_config_read_fpm(struct mst_config *config, uint64_t pid);
bool mst_config_read_httpd(struct mst_config *config, uint64_t pid, const char *mpm);
void mst_config_free(struct mst_config *config);

/* The same of a text, which includes nothing; without the command. *config is empty at first. */
bool mst_config_parse_fpm(struct mst_config *config, FILE *text);
bool mst_config_parse_httpd(struct mst_config *config, FILE *text, const char *mpm);

/* ---- for config_fpm.c and config_httpd.c ----------------------------------------------------- */

/* False: the process is another user's, or has ended. */
bool mst_config_begin(struct mst_config *config, uint64_t pid);

/* Takes a line without what is around it. */
typedef void mst_config_take_line(void *context, char *text, const char *file, uint64_t line);

/* Calls `take` with each line that has more than a comment; continues: a backslash joins it with
 * the next. A file that cannot be read, or a line that is too long, makes the reading fail. */
void mst_config_each_line(struct mst_config *config, const char *file, bool continues,
                          mst_config_take_line *take, void *context);
/* The same of a file that is open. */
void mst_config_read_lines(struct mst_config *config, FILE *stream, const char *name,
                           bool continues, mst_config_take_line *take, void *context);
/* The same of all files of a pattern, in the order of their names, and of a directory all below it;
 * that there is none is not a failure. */
void mst_config_each_file(struct mst_config *config, const char *pattern, bool continues,
                          mst_config_take_line *take, void *context);

/* Keeps a setting in place of an earlier one; key: another name of the same. */
void mst_config_keep(struct mst_config *config, const struct mst_config_setting *setting,
                     const char *key);

/* The process's program, as it was started; "": it cannot be seen. */
void mst_config_program(uint64_t pid, char *path, size_t room);

/* Adds a word to the command that tests the configuration; a word that a shell would not take as it
 * is makes the command unknown. */
void mst_config_check_add(struct mst_config *config, const char *word);

/* A program that is found without its folder. */
const char *mst_config_short(const char *path);

#endif
