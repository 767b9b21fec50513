/* end_socket.c - the other ends of functions that connect sockets. */
#include "end_call.h"
#include "end_functions.h"
#include "end_url.h"

/* TRANSPORT://HOST:PORT, or HOST and PORT: over TCP. */
static uint64_t wait_of_socket(struct mst_part address, struct mst_part port)
{
    struct mst_url url;

    if (!address.text || !mst_url_read(address, &url))
        url = (struct mst_url){ mst_part_of("tcp"), address, port };
    else if (url.port.length == 0)
        url.port = port;
    if (mst_part_starts_with(url.scheme, "ud") || mst_part_starts_with(url.scheme, "unix"))
        url.host.length = mst_part_starts_with(url.scheme, "udp") ? url.host.length : 0;
    return mst_wait_of_host(MST_WAIT_STREAM, url.scheme, url.host, url.port);
}

MST_END(socket_address)
{
    char digits[16];
    uint64_t wait = wait_of_socket(mst_call_text(call, 0),
                                   mst_call_port_of(mst_call_argument(call, 1), "", digits));

    (void)own;
    mst_known_set(mst_known_key(result), wait);
    return wait;
}

/* HOST:PORT or TRANSPORT://HOST:PORT */
MST_END(socket_url)
{
    struct mst_part address = mst_call_text(call, 0);
    struct mst_end_name with_scheme = { "tcp://", 6 };
    struct mst_url url;
    uint64_t wait;

    (void)own;
    if (address.text && !mst_url_read(address, &url)) {
        mst_end_name_append(&with_scheme, address);
        address = (struct mst_part){ with_scheme.text, with_scheme.length };
    }
    wait = wait_of_socket(address, mst_part_of(""));
    mst_known_set(mst_known_key(result), wait);
    return wait;
}

/* socket_connect(socket, address, port) */
MST_END(socket_peer)
{
    char digits[16];
    struct mst_part port = mst_call_port_of(mst_call_argument(call, 2), "", digits);
    bool is_unix = port.length == 0;
    uint64_t wait = mst_wait_of_host(MST_WAIT_STREAM, mst_part_of(is_unix ? "unix" : "tcp"),
                                     is_unix ? mst_part_of("") : mst_call_text(call, 1), port);

    (void)own, (void)result;
    mst_known_set(mst_call_subject(call), wait);
    return wait;
}
