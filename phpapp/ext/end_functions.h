/* end_functions.h - the functions that waits.def names, by file. */
#ifndef MPMSTAT_PHP_END_FUNCTIONS_H
#define MPMSTAT_PHP_END_FUNCTIONS_H

#include "ends.h"

#define MST_CAN_WAIT(name) \
    struct mst_own_end *mst_can_wait_##name(struct mst_own_end *own, zend_execute_data *call)
#define MST_END(name) \
    uint64_t mst_end_##name(struct mst_own_end *own, zend_execute_data *call, zval *result)

/* end_stream.c */
MST_CAN_WAIT(reaches_out);
MST_CAN_WAIT(reads_some);
MST_CAN_WAIT(reads_bytes);
MST_CAN_WAIT(reads_line);
MST_CAN_WAIT(selects);
void mst_end_stream_join(void);

/* end_file.c */
MST_CAN_WAIT(may_be_distant);
MST_CAN_WAIT(may_be_file);
MST_END(path);
MST_END(opened);
MST_END(opened_process);
void mst_end_file_join(void);

/* end_socket.c */
MST_END(socket_address);
MST_END(socket_url);
MST_END(socket_peer);

/* end_http.c */
MST_END(curl_url);
MST_END(curl_option);
MST_END(curl_options);
MST_END(curl_reset);
MST_END(soap);
mst_connecting_of_call mst_connecting_of_curl;

/* end_database.c */
MST_END(mysql);
MST_END(pdo);
MST_END(pgsql);

/* end_cache.c */
MST_CAN_WAIT(is_given_some);
MST_END(redis);
MST_END(memcached);
MST_END(memcacheds);

/* ends.c */
MST_END(fixed);
MST_END(subject);
MST_END(made);
MST_END(new);
MST_END(made_of);

#endif
