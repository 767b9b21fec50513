/* provenance.c - what an archive tells of a study besides its cases: see provenance.h. */
#include "lab/report/provenance.h"

static struct mst_query ask(const struct mst_study_data *data, const char *sql)
{
    return mst_query_ask(mst_archive_db(data->archive), sql, data->id);
}

struct mst_query mst_study_environment(const struct mst_study_data *data)
{
    return ask(data,
        "SELECT name, group_concat(DISTINCT value) AS content FROM environment WHERE run_id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) GROUP BY name ORDER BY name");
}

struct mst_query mst_study_recorded_servers(const struct mst_study_data *data)
{
    return ask(data,
        "SELECT DISTINCT steps.stack, coalesce(servers.server, servers.producer) AS server, "
        "servers.mpm, servers.sapi FROM steps JOIN servers ON servers.run_id = steps.run_id "
        "WHERE steps.study_id = :id ORDER BY steps.stack, servers.producer");
}

struct mst_query mst_study_commands(const struct mst_study_data *data)
{
    return ask(data,
        "SELECT DISTINCT coalesce(command_line, '') AS command FROM runs WHERE id IN "
        "(SELECT run_id FROM steps WHERE study_id = :id) ORDER BY id");
}

struct mst_query mst_study_files(const struct mst_study_data *data)
{
    return ask(data,
        "SELECT kind, name, text FROM study_files WHERE study_id = :id ORDER BY kind, name");
}
