/* clients.h - the connections of mpmstat serve: how many there are, and which have had their time.
 *
 * A client that sends its request byte by byte, or reads its answer so, keeps a thread. So there is
 * a limit on connections, on the time of each part, and where all places are taken, the connection
 * that has waited longest for its next request makes room for a new one.
 */
#ifndef MPMSTAT_SERVE_CLIENTS_H
#define MPMSTAT_SERVE_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_CLIENTS_MAX 256u

struct mst_client;

/* All functions may be called by any thread. */

/* Adds a connection, which the caller closes after mst_client_remove(). NULL: out of memory. */
struct mst_client *mst_client_add(int fd);
void mst_client_remove(struct mst_client *client);

/* The client's request is there, to be answered; its answer is sent, or given up. */
void mst_client_asks(struct mst_client *client);
void mst_client_answered(struct mst_client *client);

/* Connections that are open and were not ended here. */
size_t mst_clients_count(void);

/* Ends the connection that has waited longest for its request. False: each is being answered, or
 * has only just begun. */
bool mst_clients_make_room(void);

/* Ends those whose time is over. */
void mst_clients_end_late(void);

/* Ends each that waits for a request, and the others with their answers; returns when all have
 * ended, or so much time is over. */
void mst_clients_end(uint64_t most_ns);

#endif
