/* otlp.h - writes OTLP's JSON: values with keys, attributes, ids. */
#ifndef MPMSTAT_EXPORT_OTLP_H
#define MPMSTAT_EXPORT_OTLP_H

#include <stddef.h>

#include "render/json_writer.h"

/* Enum values are numbers, 64-bit integers strings, as OTLP's JSON has them. */
enum mst_otlp_kind { MST_OTLP_INTERNAL = 1, MST_OTLP_SERVER = 2, MST_OTLP_CLIENT = 3 };
#define MST_OTLP_ERROR       2u
#define MST_OTLP_HAS_REMOTE  0x100u   /* of flags: whether the parent is remote is known */
#define MST_OTLP_IS_REMOTE   0x200u

/* A 64-bit integer: "1700000000000000000". */
void mst_otlp_integer(struct mst_json *j, const char *key, uint64_t n);

/* An element of `attributes`. Left out: a text that is NULL or "", MST_UNKNOWN. */
void mst_otlp_text(struct mst_json *j, const char *name, const char *text);
void mst_otlp_number(struct mst_json *j, const char *name, uint64_t n);
void mst_otlp_flag(struct mst_json *j, const char *name, bool is_true);

/* server.address and server.port of an other end: "mysql db.example:3306", "https://[::1]:8443",
 * "unix:/run/php.sock|fcgi://localhost". Left out where it has none. */
void mst_otlp_address(struct mst_json *j, const char *end);

/* ---- whose they are ------------------------------------------------------------------------ */

/* A server, as the attributes of a resource. NULL, "" and MST_UNKNOWN: not known. */
struct mst_otlp_resource {
    const char *service;        /* service.name */
    const char *host;           /* host.name */
    const char *target;         /* the board's path, or the status URL */
    uint64_t    pid;
    bool        is_apache;
    const char *server, *mpm;   /* an Apache's */
};

/* Adds the member "resource". Of a server it has the same service.instance.id in spans and in
 * metrics. */
void mst_otlp_resource(struct mst_json *j, const struct mst_otlp_resource *resource);

/* The host of a status URL; else `given`, and where that is NULL, this machine's, whose board the
 * target then is. */
void mst_otlp_host(char *host, size_t size, const char *target, const char *given);

/* Adds the member "scope": mpmstat itself. */
void mst_otlp_scope(struct mst_json *j);

#endif
