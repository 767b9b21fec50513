/* config.c - the directives. Each has a default: a configuration needs none of them. */
#include "mod_mpmstat.h"

#include <apr_strings.h>

APLOG_USE_MODULE(mpmstat);

#define UNSET (-1)

/* Where the PHP extension makes its boards unless php.ini says otherwise. */
#define PHP_BOARDS_DEFAULT "/run/mpmstat"

int mst_config_reset(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp)
{
    (void)pconf, (void)plog, (void)ptemp;
    mst_config = (struct mst_main_config){
        .labels = MST_LABELS_DEFAULT,
        .tenant_labels = MST_TENANT_LABELS_DEFAULT,
        .php_boards = PHP_BOARDS_DEFAULT,
    };
    return OK;
}

void *mst_create_dir_config(apr_pool_t *p, char *dir)
{
    struct mst_dir_config *c = apr_palloc(p, sizeof *c);

    (void)dir;
    c->enabled = UNSET;
    c->paths = UNSET;
    c->trust_request_start = UNSET;
    c->trust_client_id = UNSET;
    c->trace_context = UNSET;
    c->trust_proxy = UNSET;
    c->notes = UNSET;
    c->server_timing = UNSET;
    c->label = NULL;
    return c;
}

static int merged(int base, int add)
{
    return add != UNSET ? add : base;
}

void *mst_merge_dir_config(apr_pool_t *p, void *base_, void *add_)
{
    const struct mst_dir_config *base = base_, *add = add_;
    struct mst_dir_config *c = apr_palloc(p, sizeof *c);

    c->enabled = merged(base->enabled, add->enabled);
    c->paths = merged(base->paths, add->paths);
    c->trust_request_start = merged(base->trust_request_start, add->trust_request_start);
    c->trust_client_id = merged(base->trust_client_id, add->trust_client_id);
    c->trace_context = merged(base->trace_context, add->trace_context);
    c->trust_proxy = merged(base->trust_proxy, add->trust_proxy);
    c->notes = merged(base->notes, add->notes);
    c->server_timing = merged(base->server_timing, add->server_timing);
    c->label = add->label ? add->label : base->label;
    return c;
}

void *mst_create_server_config(apr_pool_t *p, server_rec *s)
{
    (void)s;
    return apr_pcalloc(p, sizeof(struct mst_server_config));
}

/* The argument of ap_set_flag_slot(), which sets a flag and does nothing else. */
#define SLOT(member) ((void *)APR_OFFSETOF(struct mst_dir_config, member))

static const char *set_trust_request_start(cmd_parms *cmd, void *dir, int on)
{
    (void)cmd;
    ((struct mst_dir_config *)dir)->trust_request_start = on;
    if (on)
        mst_config.trust_request_start = true;
    return NULL;
}

static const char *set_notes(cmd_parms *cmd, void *dir, int on)
{
    (void)cmd;
    ((struct mst_dir_config *)dir)->notes = on;
    if (on && !mst_config.notes) {
        mst_config.notes = true;
        mst_exports_use_notes();
    }
    return NULL;
}

static const char *set_server_timing(cmd_parms *cmd, void *dir, int on)
{
    (void)cmd;
    ((struct mst_dir_config *)dir)->server_timing = on;
    if (on && !mst_config.server_timing) {
        mst_config.server_timing = true;
        mst_exports_use_server_timing();
    }
    return NULL;
}

/* Logs once in the board's life, because httpd reads .htaccess for each request. */
static void log_refusal(struct mst_board *b, const server_rec *s, const char *name)
{
    if (mst_board_tell_once(b, MST_TOLD_NO_ROOM))
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s, MPMSTAT_LOGNO(11)
                     "no room for the label \"%s\" of an .htaccess file: those of this virtual "
                     "host may make %u labels (MPMStatTenantLabels), all of them together a "
                     "quarter of MPMStatMaxLabels; its requests are counted as without it",
                     name, mst_config.tenant_labels);
}

/* The label that an .htaccess file sets; httpd reads the file for each request. NULL: there is no
 * board or no room for the label, and the request has the label of the directory above or of its
 * virtual host. */
static const struct mst_label_ref *label_of_tenant(const cmd_parms *cmd, const char *name)
{
    struct mst_board *b = mst_recording.board;
    struct mst_tenant tenant = {
        .owner = mst_server_config_of(cmd->server)->tenant,
        .quota = mst_config.tenant_labels,
        .share = b ? b->label_count / MST_TENANTS_PART : 0,
    };
    struct mst_label_ref *ref;
    uint32_t index;

    if (!b)
        return NULL;
    if (!mst_label_intern_tenant(b, name, &tenant, &index)) {
        log_refusal(b, cmd->server, name);
        return NULL;
    }
    ref = apr_pcalloc(cmd->pool, sizeof *ref);
    ref->name = name;
    ref->index = index;
    return ref;
}

static const struct mst_label_ref *label_of_configuration(const cmd_parms *cmd, const char *name)
{
    struct mst_label_ref *ref = apr_pcalloc(cmd->pool, sizeof *ref);

    ref->name = name;
    ref->next = mst_config.refs;
    mst_config.refs = ref;
    return ref;
}

static const char *set_label(cmd_parms *cmd, void *dir, const char *name)
{
    bool in_htaccess = ap_check_cmd_context(cmd, NOT_IN_HTACCESS) != NULL;

    if (!mst_label_is_valid(name))
        return apr_psprintf(cmd->pool, "MPMStatLabel must have 1 to %u letters, digits and "
                            "- _ . : /, not be \"%s\"", MST_NAME_MAX - 1, name);
    ((struct mst_dir_config *)dir)->label = in_htaccess ? label_of_tenant(cmd, name)
                                                       : label_of_configuration(cmd, name);
    return NULL;
}

static const char *set_board(cmd_parms *cmd, void *dir, const char *path)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    (void)dir;
    if (error)
        return error;
    mst_config.board = ap_runtime_dir_relative(cmd->pool, path);
    if (!mst_config.board)
        return apr_pstrcat(cmd->pool, "MPMStatBoard must be a file's path, not \"", path, "\"",
                           NULL);
    if (strlen(mst_config.board) >= sizeof ((struct mst_board *)0)->path)
        return apr_psprintf(cmd->pool,
                            "MPMStatBoard must be a path of at most %u bytes, this one has %u",
                            (unsigned)sizeof ((struct mst_board *)0)->path - 1,
                            (unsigned)strlen(mst_config.board));
    return NULL;
}

static const char *set_php_boards(cmd_parms *cmd, void *dir, const char *path)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);

    (void)dir;
    if (error)
        return error;
    if (ap_cstr_casecmp(path, "Off") == 0) {
        mst_config.php_boards = NULL;
        return NULL;
    }
    mst_config.php_boards = ap_runtime_dir_relative(cmd->pool, path);
    if (!mst_config.php_boards)
        return apr_pstrcat(cmd->pool, "MPMStatPHPBoards must be a directory's path or Off, not \"",
                           path, "\"", NULL);
    return NULL;
}

/* Sets *value to a whole number from low to high. Returns NULL, or a sentence. */
static const char *set_number(cmd_parms *cmd, const char *text, uint32_t low, uint32_t high,
                              uint32_t *value)
{
    const char *error = ap_check_cmd_context(cmd, GLOBAL_ONLY);
    apr_int64_t number;
    char *end;

    if (error)
        return error;
    number = apr_strtoi64(text, &end, 10);
    if (!*text || *end || number < low || number > high)
        return apr_psprintf(cmd->pool, "%s must be a whole number from %u to %u, not \"%s\"",
                            cmd->cmd->name, low, high, text);
    *value = (uint32_t)number;
    return NULL;
}

static const char *set_journal(cmd_parms *cmd, void *dir, const char *text)
{
    (void)dir;
    return set_number(cmd, text, 1024, MST_JOURNAL_MAX, &mst_config.journal);
}

static const char *set_max_labels(cmd_parms *cmd, void *dir, const char *text)
{
    (void)dir;
    return set_number(cmd, text, 2, MST_LABELS_MAX, &mst_config.labels);
}

static const char *set_tenant_labels(cmd_parms *cmd, void *dir, const char *text)
{
    (void)dir;
    return set_number(cmd, text, 0, MST_LABELS_MAX, &mst_config.tenant_labels);
}

static const char *set_trace_context(cmd_parms *cmd, void *dir, const char *text)
{
    static const char *const names[] = {
        [MST_TRACE_IGNORED] = "Off", [MST_TRACE_READ] = "On", [MST_TRACE_PARENT] = "Parent",
    };
    struct mst_dir_config *c = dir;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (ap_cstr_casecmp(text, names[i]) == 0) {
            c->trace_context = (int)i;
            return NULL;
        }
    return apr_psprintf(cmd->pool, "%s must be On, Off or Parent, not \"%s\"", cmd->cmd->name,
                        text);
}

const command_rec mst_commands[] = {
    AP_INIT_FLAG("MPMStat", ap_set_flag_slot, SLOT(enabled), RSRC_CONF | ACCESS_CONF,
                 "Whether requests are recorded here: On (default) or Off"),
    AP_INIT_FLAG("MPMStatPaths", ap_set_flag_slot, SLOT(paths), RSRC_CONF | ACCESS_CONF,
                 "Whether the paths of requests are recorded, and shown while they are in flight, "
                 "never with a query string: On or Off (default)"),
    AP_INIT_FLAG("MPMStatTrustRequestStart", set_trust_request_start, NULL,
                 RSRC_CONF | ACCESS_CONF,
                 "Whether X-Request-Start, which any client can send, is believed here and the "
                 "time since then recorded: On or Off (default)"),
    AP_INIT_FLAG("MPMStatTrustClientId", ap_set_flag_slot, SLOT(trust_client_id),
                 RSRC_CONF | ACCESS_CONF,
                 "Whether the number that a load tool gives a request, in X-MPMStat-Id or "
                 "X-Vegeta-Seq, is recorded here: On or Off (default)"),
    AP_INIT_TAKE1("MPMStatTraceContext", set_trace_context, NULL, RSRC_CONF | ACCESS_CONF,
                  "Whether the trace that a request belongs to, by its header traceparent, is "
                  "recorded here: On or Off (default); Parent: and programs get the header with "
                  "the request's own span"),
    AP_INIT_FLAG("MPMStatTrustProxy", ap_set_flag_slot, SLOT(trust_proxy),
                 RSRC_CONF | ACCESS_CONF,
                 "Whether the status page here is for requests, too, that came through a proxy on "
                 "this machine, and so look local: On or Off (default)"),
    AP_INIT_FLAG("MPMStatNotes", set_notes, NULL, RSRC_CONF | ACCESS_CONF,
                 "Whether LogFormat finds a request's phases here, as %{mpmstat-queue}n, and its "
                 "id, as %{MPMSTAT_ID}e: On or Off (default)"),
    AP_INIT_FLAG("MPMStatServerTiming", set_server_timing, NULL, RSRC_CONF | ACCESS_CONF,
                 "Whether responses here have a Server-Timing header: On or Off (default)"),
    AP_INIT_TAKE1("MPMStatLabel", set_label, NULL, RSRC_CONF | OR_FILEINFO,
                  "The label that requests here are counted under; default the virtual host's "
                  "name"),
    AP_INIT_TAKE1("MPMStatBoard", set_board, NULL, RSRC_CONF,
                  "The board's file; default mpmstat.board in DefaultRuntimeDir"),
    AP_INIT_TAKE1("MPMStatPHPBoards", set_php_boards, NULL, RSRC_CONF,
                  "The directory whose PHP boards, and those in its php/, the status page shows; "
                  "or Off; default " PHP_BOARDS_DEFAULT),
    AP_INIT_TAKE1("MPMStatJournal", set_journal, NULL, RSRC_CONF,
                  "How many of the latest requests are kept one by one; default: by CPUs"),
    AP_INIT_TAKE1("MPMStatMaxLabels", set_max_labels, NULL, RSRC_CONF,
                  "How many labels there can be, \"other\" and \"mpm-status\" included; "
                  "default 64"),
    AP_INIT_TAKE1("MPMStatTenantLabels", set_tenant_labels, NULL, RSRC_CONF,
                  "How many labels the .htaccess files of a virtual host can make; default 8"),
    { .name = NULL }
};
