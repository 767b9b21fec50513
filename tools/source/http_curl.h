/* http_curl.h - what holds for every request of mpmstat, for those that use libcurl themselves. */
#ifndef MPMSTAT_HTTP_CURL_H
#define MPMSTAT_HTTP_CURL_H

#include <curl/curl.h>

/* Only http and https, no redirects, no proxy, no connection kept, our name. */
void mst_http_set_defaults(CURL *curl, const char *url);

#endif
