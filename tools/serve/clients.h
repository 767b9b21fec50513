/* clients.h - the connections of mpmstat serve: how many there are, which have had their time, and
 * what their answers take.
 *
 * A client that sends its request byte by byte, or reads its answer so, keeps a thread, and the
 * answer's memory. So there is a limit on connections, on the time of each part, and on the bytes
 * of all answers together. Where all places are taken, the connection that has waited longest for
 * its next request makes room for a new one; where the bytes are, the one that has read longest.
 */
#ifndef MPMSTAT_SERVE_CLIENTS_H
#define MPMSTAT_SERVE_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MST_CLIENTS_MAX 256u

/* A connection that was ended here still counts until its thread has noticed that. At most so many
 * connections exist at a time, open and ended ones together. */
#define MST_CLIENTS_ALL_MAX (2 * MST_CLIENTS_MAX)

struct mst_client;

/* All functions may be called by any thread. */

/* Adds a connection, which the caller closes after mst_client_remove(). NULL: out of memory, and
 * the socket is shut down. */
struct mst_client *mst_client_add(int fd);
void mst_client_remove(struct mst_client *client);

/* How many were added so far. */
uint64_t mst_clients_added(void);

/* Waits until `count` were added, or so much time is over. */
void mst_clients_wait_added(uint64_t count, uint64_t most_ns);

/* The client's request is there, to be answered; its answer is sent, or given up. */
void mst_client_asks(struct mst_client *client);
void mst_client_answered(struct mst_client *client);

/* Connections that are open and were not ended here. */
size_t mst_clients_count(void);

/* Whether there is room for one more. Where all places are taken, it ends the connection that has
 * waited longest for its request. False: each is being answered, or has only just begun, or too
 * many that were ended are still there. */
bool mst_clients_make_room(void);

/* Whether there is room for an answer, which is still to be made. Where there is none, it ends the
 * connections that have read longest, and waits for it. */
bool mst_clients_make_answer_room(void);

/* The client's answer has so many bytes, until mst_client_answered(). False: there is no room. */
bool mst_client_holds(struct mst_client *client, size_t bytes);

/* Ends those whose time is over. */
void mst_clients_end_late(void);

/* Ends each that waits for a request, and the others with their answers; returns when all have
 * ended, or so much time is over. */
void mst_clients_end(uint64_t most_ns);

#endif
