/* verb_serve.c - mpmstat serve: HTTP from the boards, with nothing of Apache. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "cli/export_options.h"
#include "cli/quantities.h"
#include "cli/verbs.h"
#include "console/diag.h"
#include "console/options.h"
#include "console/style.h"
#include "serve/serve.h"

static const char help[] =
#include "tools/cli/help/serve.inc"
    ;
#include "tools/cli/help/serve.opt"

#define INTERVAL_MAX_NS (UINT64_C(3600) * MST_NS_PER_S)

struct options {
    struct mst_serve_options  serve;
    struct mst_export_options to;      /* with --otlp */
    bool                      help;
};

static int read_option(struct options *o, int option, char *const *argv)
{
    char error[MST_ERROR_MAX];
    int status;

    if (mst_export_option(&o->to, "serve", option, optarg, &status))
        return status;
    switch (option) {
    case MST_OPTION_LISTEN:
        if (mst_serve_address_add(&o->serve.addresses, optarg, error) == 0)
            return MST_EXIT_OK;
        return mst_usage_error("serve", "--listen: %s", error);
    case MST_OPTION_TLS_CERT: o->serve.files.certificate = optarg; return MST_EXIT_OK;
    case MST_OPTION_TLS_KEY: o->serve.files.key = optarg; return MST_EXIT_OK;
    case MST_OPTION_CLIENT_CA: o->serve.files.client_ca = optarg; return MST_EXIT_OK;
    case MST_OPTION_TOKEN_FILE: o->serve.files.token = optarg; return MST_EXIT_OK;
    case MST_OPTION_OTLP_INTERVAL:
        o->to.is_used = true;
        return mst_time_read("serve", "otlp-interval", optarg, MST_NS_PER_S, INTERVAL_MAX_NS,
                             &o->serve.telemetry.interval_ns);
    case MST_OPTION_HELP: o->help = true; return MST_EXIT_OK;
    default:  return mst_option_error("serve", option, argv, options);
    }
}

/* The first address that other machines can reach; NULL: none. */
static const char *find_open_address(const struct mst_serve_addresses *all)
{
    unsigned i;

    for (i = 0; i < all->count; i++)
        if (!all->items[i].is_loopback)
            return all->items[i].text;
    return NULL;
}

/* What the boards say is not for everybody. */
static int check_options(const struct mst_serve_options *o)
{
    const struct mst_secret_files *f = &o->files;
    const char *open = find_open_address(&o->addresses);
    size_t i;

    for (i = 0; i < o->target_count; i++)
        if (strncasecmp(o->targets[i], "http", 4) == 0 && strstr(o->targets[i], "://") != NULL)
            return mst_usage_error("serve", "it reads boards, and asks no server: expected a board "
                                   "file or a directory of them, found %.200s", o->targets[i]);
    if ((f->certificate == NULL) != (f->key == NULL))
        return mst_usage_error("serve", "--tls-cert and --tls-key need each other");
    if (f->client_ca != NULL && f->certificate == NULL)
        return mst_usage_error("serve", "--client-ca needs TLS: --tls-cert and --tls-key");
    if (open != NULL && f->certificate == NULL)
        return mst_usage_error("serve", "other machines can reach %s: that needs TLS (--tls-cert, "
                               "--tls-key), and --token-file or --client-ca. Without them only "
                               "127.0.0.1 and [::1] are served", open);
    if (open != NULL && f->token == NULL && f->client_ca == NULL)
        return mst_usage_error("serve", "other machines can reach %s: that needs --token-file or "
                               "--client-ca, so that it knows its clients", open);
    return MST_EXIT_OK;
}

/* What goes to a collector, and which requests. */
static int set_telemetry(struct mst_telemetry_options *t, const struct mst_export_options *to)
{
    if (to->post.url == NULL)
        return to->is_used ? mst_usage_error("serve", "--otlp URL is missing: the other options of "
                                             "a collector need it") : MST_EXIT_OK;
    t->post = to->post;
    t->service = to->service;
    t->host = to->host;
    t->choice = to->has_choice ? to->choice : (struct mst_export_choice){
        .slower_than_ns = MST_NS_PER_S, .failed = true, .sampled = true,
    };
    return MST_EXIT_OK;
}

static int serve(struct mst_serve_options *o)
{
    char error[MST_ERROR_MAX];
    int status;

    if (o->addresses.count == 0)
        mst_serve_address_add(&o->addresses, MST_SERVE_PORT, error);
    status = check_options(o);
    if (status != MST_EXIT_OK)
        return status;
    mst_style_use(MST_COLOUR_NEVER, -1);   /* answers are read by programs */
    return mst_serve_run(o);
}

int mst_verb_serve(int argc, char **argv)
{
    struct options o = {
        .serve.telemetry.interval_ns = MST_TELEMETRY_INTERVAL_NS,
    };
    int option, status = MST_EXIT_OK;

    mst_export_options_begin(&o.to);
    opterr = 0;
    optind = 0;
    while (status == MST_EXIT_OK &&
           (option = getopt_long(argc, argv, MST_LETTERS, options, NULL)) != -1)
        status = read_option(&o, option, argv);
    if (status == MST_EXIT_OK && o.help) {
        fputs(help, stdout);
    } else if (status == MST_EXIT_OK) {
        o.serve.targets = argv + optind;
        o.serve.target_count = (size_t)(argc - optind);
        status = set_telemetry(&o.serve.telemetry, &o.to);
        if (status == MST_EXIT_OK)
            status = serve(&o.serve);
    }
    mst_export_options_free(&o.to);
    return status;
}
