"""What PHP waits for is slow by itself: a name server, a disk, a database. Their own figures are
the witnesses: when it was asked and answered, how long a system call took, the sum of all
statements."""
import concurrent.futures
import json
import re
import shutil
import subprocess

import pytest

import build
import data_servers
import name_server
import php
import processes
import slow_disk
from php_site import MS, Site, check_wait, connect, needs, needs_version, timed, waiting_for_rows
from processes import wait_until

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))


# ---- names ------------------------------------------------------------------------------------

@pytest.mark.parametrize("call, answer", [
    ('gethostbyname("slow.test.example")', "192.0.2.7"),
    ('gethostbynamel("slow.test.example")[0]', "192.0.2.7"),
    ('gethostbyaddr("192.0.2.7")', "client.test.example"),
    ('dns_get_record("slow.test.example", DNS_A)[0]["ip"]', "192.0.2.7"),
    ('checkdnsrr("slow.test.example", "A")', True),
], ids=lambda value: str(value).split("(", maxsplit=1)[0])
def test_a_name_server_that_answers_late(call, answer):
    try:
        names = name_server.NameServer({"slow.test.example": "192.0.2.7"}, delay=0.4).__enter__()
    except name_server.Unavailable as reason:
        pytest.skip(str(reason))
    try:
        with Site(wrapper=names.wrapper) as site:
            got, wall = json.loads(site.ask(f"$began = hrtime(true); $got = {call}; "
                                            "echo json_encode([$got, hrtime(true) - $began]);"))
            [record] = site.records(1)
            ends = {name: end["calls"] for name, end in site.ends().items()}
    finally:
        names.__exit__()
    assert got == answer and names.waited_ns() >= 400 * MS
    check_wait(record, "dns", names.waited_ns(), wall)
    assert sum(record["waits"].values()) == record["waits"]["dns"] and ends == {"dns": 1}


# ---- files ------------------------------------------------------------------------------------

def straced(pid, log):
    """A strace of the fsyncs of that process; it has attached."""
    process = subprocess.Popen(["strace", "-q", "-T", "-e", "trace=fsync,fdatasync", "-o", str(log),
                                "-p", str(pid)], stderr=subprocess.DEVNULL)
    wait_until(lambda: process.poll() is not None or
               f"TracerPid:\t{process.pid}\n" in processes.read(pid, "status").decode(), 30,
               "strace to attach")
    return process


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
@pytest.mark.parametrize("call", ["fsync", "fdatasync"])
def test_a_disk_that_writes_slowly(call, tmp_path):
    needs_version(8, 1, "fsync()")
    try:
        disk = slow_disk.SlowDisk().__enter__()
    except slow_disk.Unavailable as reason:
        pytest.skip(str(reason))
    try:
        with Site(wrapper=disk.wrapper) as site:
            [worker] = site.fpm.workers()
            disk.slow_down(site.fpm.pid, worker)
            strace = straced(worker, tmp_path / "strace")
            try:
                wall = int(site.ask(timed(f"{call}($f)", f'$f = fopen("{disk.path}/file", "w"); '
                                          'fwrite($f, str_repeat("x", 1000000))')))
                [record] = site.records(1)
            finally:
                strace.terminate()
                strace.wait(30)
            ends = {name: end["calls"] for name, end in site.ends().items()}
    finally:
        disk.__exit__()
    took = re.findall(rf"{call}\(\d+\) *= 0 <([\d.]+)>", (tmp_path / "strace").read_text())
    assert len(took) == 1 and float(took[0]) > 0.3, "the disk is slow"
    check_wait(record, "file", float(took[0]) * 1e9, record["run_ns"])
    assert wall >= float(took[0]) * 1e9 and ends == {"file": 3}


# ---- databases --------------------------------------------------------------------------------

SLEEPS, NAP, HELD = 4, 0.5, 1.5      # most of the statements' time is the server's own


def behind_a_lock(site, hold, is_waiting, script):
    """What the script prints; it waits for a row that the program of PHP `hold` has locked, which
    prints a line, and gives the row up some time after it has got one."""
    holder = subprocess.Popen([php.CLI, "-r", hold], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(site.ask, script)
            wait_until(lambda: answer.done() or is_waiting(), 60, "the script to wait")
            holder.communicate("\n", timeout=60)
            return answer.result(60)
    finally:
        processes.end(holder)


def check_sum_of_statements(site, server_ns):
    """What PHP waited for is what the server says of its statements, within 5 %."""
    record = site.records(2)[-1]
    check_wait(record, "database", server_ns, record["run_ns"])
    assert server_ns >= (SLEEPS * NAP + HELD) * 1e9
    assert 0.95 <= record["waits"]["database"] / server_ns <= 1.05, (record, server_ns)


@pytest.mark.parametrize("how", ["mysqli", "PDO"])
def test_the_sum_of_mariadbs_statements(how):
    with needs(data_servers.MariaDB, "mysqli", "pdo_mysql") as server, Site() as site:
        db = connect(server)
        site.ask(f'{db["PDO"]}; $db->exec("CREATE OR REPLACE TABLE mysql.held (id INT PRIMARY KEY, '
                 'n INT)"); $db->exec("INSERT INTO mysql.held VALUES (1, 1)");')
        server_ps = behind_a_lock(
            site, f'{db["PDO"]}; $db->beginTransaction(); '
            '$db->exec("UPDATE mysql.held SET n = 2"); echo "held\n"; fgets(STDIN); '
            f'$db->exec("DO SLEEP({HELD})"); $db->commit();',
            lambda: "mysql" in waiting_for_rows(server),
            f'{db[how]}; $db->query("UPDATE mysql.held SET n = 3"); '
            f'for ($i = 0; $i < {SLEEPS}; $i++) $db->query("DO SLEEP({NAP})"); '
            '$r = $db->query("SELECT SUM(sum_timer_wait) AS ps FROM '
            'performance_schema.events_statements_summary_by_thread_by_event_name WHERE thread_id '
            '= (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = '
            'CONNECTION_ID())"); '
            'echo ($r instanceof PDOStatement ? $r->fetch() : $r->fetch_assoc())["ps"];')
        check_sum_of_statements(site, int(server_ps) // 1000)


class CountedPostgreSQL(data_servers.PostgreSQL):
    """With the extension that sums up statements."""
    needs = (*data_servers.PostgreSQL.needs,
             data_servers.newest("[0-9]*/lib/pg_stat_statements.so"))

    def command(self):
        return [*super().command(), "-c", "shared_preload_libraries=pg_stat_statements"]


@pytest.mark.skipif(build.SANITIZE_ADDRESS, reason="libpq hangs with AddressSanitizer")
@pytest.mark.parametrize("how", ["pgsql", "PDO"])
def test_the_sum_of_postgresqls_statements(how):
    with needs(CountedPostgreSQL, "pgsql", "pdo_pgsql") as server, Site() as site:
        pdo = (f'$db = new PDO("pgsql:host=127.0.0.1;port={server.port};dbname=postgres", '
               '"tester"); function ask($db, $q) { return $db->query($q)->fetch()[0] ?? null; }')
        pgsql = (f'$db = pg_connect("host=127.0.0.1 port={server.port} user=tester '
                 'dbname=postgres"); function ask($db, $q) { return pg_fetch_row(pg_query($db, '
                 '$q))[0] ?? null; }')
        waiting = (f'{pdo}; echo ask($db, "SELECT count(*) FROM pg_stat_activity WHERE '
                   'wait_event_type = \'Lock\'");')
        site.ask(f'{pdo}; $db->exec("CREATE EXTENSION pg_stat_statements; CREATE TABLE held (n '
                 'INT); INSERT INTO held VALUES (1);");')
        server_ms = behind_a_lock(
            site, f'{pdo}; $db->beginTransaction(); ask($db, "SELECT n FROM held FOR UPDATE"); '
            f'echo "held\n"; fgets(STDIN); ask($db, "SELECT pg_sleep({HELD}), 1"); $db->commit();',
            lambda: subprocess.run([php.CLI, "-r", waiting], text=True, capture_output=True,
                                   check=True).stdout == "1",
            f'{pgsql if how == "pgsql" else pdo}; ask($db, "UPDATE held SET n = 3"); '
            f'for ($i = 0; $i < {SLEEPS}; $i++) ask($db, "SELECT pg_sleep({NAP})"); '
            'echo ask($db, "SELECT sum(total_exec_time) FROM pg_stat_statements WHERE query IN '
            '(\'UPDATE held SET n = \' || chr(36) || \'1\', \'SELECT pg_sleep(\' || chr(36) '
            '|| \'1)\')");')
        check_sum_of_statements(site, int(float(server_ms) * 1e6))
