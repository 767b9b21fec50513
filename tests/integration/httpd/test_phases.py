"""The phases of a request: their sum, their edges, and that every request is there once."""
import subprocess
import time
from collections import Counter
from decimal import Decimal

import pytest

import build
import tool
from clients import NoAnswer
from phases import (CGI, MOST, PAUSE, PHASES, assert_held_all_the_time, assert_sums, cgi_module,
                    record_of, records_of)
from processes import wait_until


MIXED = CGI + '''
ErrorDocument 404 /missing.html
DirectoryIndex index.html
<Directory "@ROOT@/htdocs">
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
</Directory>
'''


def mixed_load(apache):
    """Requests of every kind. Returns the statuses that the client got, with
    "aborted" for those that it gave up, and the bytes of the complete ones."""
    statuses, size = Counter(), 0

    def note(answer):
        nonlocal size
        statuses[answer.status] += 1
        size += len(answer.body)
        return answer

    for _ in range(10):
        note(apache.get("/index.html"))
    connection = apache.connect()                         # kept alive, several methods
    for method, path, body in (
            ("GET", "/", b""), ("HEAD", "/", b""), ("POST", "/cgi/echo", b"x" * 5000),
            ("GET", "/nowhere", b""), ("GET", "/page.shtml", b""), ("OPTIONS", "/", b""),
            ("GET", "/empty", b""), ("DELETE", "/", b""), ("GET", "/cgi/fail", b"")):
        if note(connection.request(path, method, body=body)).headers.get("connection") == "close":
            connection.close()
            connection = apache.connect()
    connection.close()
    with apache.connect() as connection:                  # pipelined
        for _ in range(5):
            connection.send_request("/")
        for _ in range(5):
            note(connection.read_response())
    with apache.connect() as connection:                  # two interleaved: subrequest of a
        connection.send_request("/sub/")                  # directory, then its index
        note(connection.read_response())
    for garbage in (b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n",
                    b"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n"):
        with apache.connect() as connection:              # malformed
            connection.send(garbage)
            note(connection.read_response())
    with apache.connect() as connection:                  # given up half-way
        connection.send_request("/big")
        connection.read_exactly(1000)
        connection.reset()
    statuses["aborted"] += 1
    with apache.connect():                                # connected, never asked
        pass
    return statuses, size


def test_every_request_is_there_once_and_its_phases_add_up(server, mpm):
    apache = server(mpm, MIXED, modules=[cgi_module(mpm), "include"])
    apache.allow("AH10244|End of script output before headers")
    apache.page("missing.html", "lost")
    apache.page("empty", "")
    apache.page("page.shtml", '<!--#include virtual="/index.html" --><!--#echo var="X" -->\n')
    apache.page("big", b"x" * 20_000_000)
    (apache.root / "htdocs" / "sub").mkdir()
    apache.page("sub/index.html", "sub")
    apache.cgi("echo", "echo Content-Type: text/plain; echo; exec wc -c\n")
    apache.cgi("fail", "exit 1\n")
    client, size = mixed_load(apache)
    records = records_of(apache, sum(client.values()))
    assert_sums(records)
    server_side = Counter("aborted" if r["aborted"] else r["status"] for r in records)
    assert server_side == client
    assert sum(r["bytes"] for r in records if not r["aborted"]) == size
    assert len({r["id"] for r in records}) == len(records), "ids repeat"
    assert_tallies_agree(apache, records)
    # Apache's own log has them all too, in as many lines (and the status page's).
    def recorded():
        return sum(entry["requests"] for entry in tool.status(apache.board)["labels"])
    wait_until(lambda: recorded() == len(apache.access_log()), 5,
               lambda: f"{len(apache.access_log())} lines in the access log, {recorded()} recorded")


def assert_tallies_agree(apache, records):
    """What the tallies say is what the journal says, to the nanosecond."""
    board = apache.status()
    (load,) = [entry for entry in tool.labels(board) if entry["requests"]]
    assert load["requests"] == len(records) == sum(load["status"].values())
    assert load["bytes"] == sum(r["bytes"] for r in records)
    assert load["in_flight"] == 0
    for phase in (*PHASES, "total", "held"):
        times = load["phases"][phase]
        assert times["count"] == len(records), phase
        assert times["sum_seconds"] == sum(r[phase] for r in records), phase
        assert times["max_seconds"] == max(r[phase] for r in records), phase


def test_a_slow_cgi_counts_once(server, mpm):
    """mod_status counts it twice on prefork and worker."""
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    path = apache.cgi("nap", f"sleep {PAUSE}\necho Content-Type: text/plain\necho\necho done\n")
    with apache.connect() as connection:
        start = time.monotonic()
        assert connection.request(path).text() == "done\n"
        client = Decimal(time.monotonic() - start)
        record = record_of(apache, connection.port)
    for what in ("handle", "total", "held"):
        assert PAUSE <= record[what] < 2 * PAUSE, record
    # The server notes the end when the client has it already: a moment later.
    assert abs(record["total"] - client) < MOST, (client, record)


def slow_read(connection, seconds, steps=50):
    """Reads the response in steps spread over so many seconds."""
    _, headers = connection.read_head()
    left = int(headers["content-length"])
    step = left // steps + 1
    end = time.monotonic() + seconds
    while left:
        taken = len(connection.read_exactly(min(step, left)))
        left -= taken
        pause = (end - time.monotonic()) * taken / (left + taken)
        time.sleep(max(0, pause))      # this is the slowness itself, not a synchronisation


def test_a_slow_client_costs_send_and_on_event_no_worker(server, mpm):
    apache = server(mpm, "EnableSendfile On")
    path = apache.page("30mb", b"x" * 30_000_000)
    with apache.connect(receive_buffer=65536) as connection:
        connection.send_request(path)
        start = time.monotonic()
        slow_read(connection, 2)
        client = Decimal(time.monotonic() - start)
        record = record_of(apache, connection.port)
    # What is left in the kernel's buffers when the server is done, the server does not see.
    assert abs(record["send"] - client) < MOST, (client, record)
    assert record["handle"] < MOST and record["read"] < MOST, record
    assert record["bytes"] == 30_000_000
    if mpm == "event":
        assert record["held"] < record["send"] / 5, record
    else:
        assert_held_all_the_time(record)


def test_recorded_when_complete_not_when_handled(server, mpm):
    """While the client still reads there is no record, and the request is in flight."""
    apache = server(mpm, "EnableSendfile On")
    path = apache.page("30mb", b"x" * 30_000_000)
    with apache.connect(receive_buffer=65536) as connection:
        connection.send_request(path)
        connection.read_exactly(1000)
        assert not [r for r in apache.journal()[0] if r["port"] == connection.port]
        board = apache.status()
        assert sum(entry["in_flight"] for entry in tool.labels(board)) == 1, board["labels"]
        connection.reset()
        record = record_of(apache, connection.port)
    assert record["aborted"], record
    wait_until(lambda: sum(e["in_flight"] for e in tool.labels(apache.status())) == 0, 5,
               "nothing in flight")


def test_slow_headers_are_read(server, mpm):
    apache = server(mpm)
    with apache.connect() as connection:
        connection.send("GET / HTTP/1.1\r\nHost: test.example\r\n")
        time.sleep(PAUSE)
        connection.send("\r\n")
        connection.read_response()
        record = record_of(apache, connection.port)
    assert MOST < record["read"] and record["handle"] < MOST, record


def test_an_interim_response_is_not_the_first_byte(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    path = apache.cgi("echo", "read line\necho Content-Type: text/plain\necho\necho $line\n")
    with apache.connect() as connection:
        connection.send(f"POST {path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 5\r\n\r\n")
        assert connection.read_response().status == 100
        time.sleep(PAUSE)
        connection.send("abcd\n")
        assert connection.read_response().text() == "abcd\n"
        record = record_of(apache, connection.port)
    assert PAUSE <= record["handle"] and record["send"] < MOST, record


def test_a_response_in_parts_is_sent_from_its_first_part(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    path = apache.cgi("parts", f"echo Content-Type: text/plain\necho\necho one\nsleep {PAUSE}\n"
                               "echo two\n")
    with apache.connect() as connection:
        assert connection.request(path).text() == "one\ntwo\n"
        record = record_of(apache, connection.port)
    assert MOST <= record["send"] and record["handle"] < MOST, record


def test_idle_time_of_a_kept_alive_connection_is_no_requests(server, mpm):
    apache = server(mpm)
    with apache.connect() as connection:
        for _ in range(3):
            connection.request("/")
            time.sleep(PAUSE)
        port = connection.port
        records = [r for r in records_of(apache, 3) if r["port"] == port]
    assert [r["nth"] for r in records] == [0, 1, 2], records
    assert len({(r["pid"], r["connection"]) for r in records}) == 1, records
    assert max(r["total"] for r in records) < MOST, records
    starts = [r["start"] for r in records]
    assert all(b - a >= PAUSE for a, b in zip(starts, starts[1:])), starts


def test_an_aborted_request(server, mpm):
    apache = server(mpm, CGI, modules=[cgi_module(mpm)])
    apache.allow("AH01215|AH02651|AH01220|AH01229")
    path = apache.cgi("flood", "echo Content-Type: text/plain\necho\n"
                               "exec head -c 50000000 /dev/zero\n")
    with apache.connect() as connection:
        connection.send_request(path)
        connection.read_exactly(1000)
        connection.reset()
        record = record_of(apache, connection.port)
    assert record["aborted"] and record["status"] == 200, record
    assert_sums([record])
    load = wait_until(lambda: [e for e in tool.labels(apache.status()) if e["requests"]], 5,
                      "the tally")[0]
    assert load["status"]["aborted"] == 1 and load["status"]["2xx"] == 0, load


def test_a_malformed_request_and_one_that_never_came(server, mpm):
    apache = server(mpm, "RequestReadTimeout header=1\nTimeout 1", modules=["reqtimeout"])
    with apache.connect() as connection:
        connection.send("GET / HTTP/1.1\r\nBad Header\r\n\r\n")
        assert connection.read_response().status == 400
        bad = record_of(apache, connection.port)
    assert bad["handle"] == 0 and bad["status"] == 400, bad
    with apache.connect() as connection:
        connection.send("GET / HT")
        try:
            connection.read_response()
        except NoAnswer:
            pass
        late = record_of(apache, connection.port)
    assert late["status"] == 408 and late["handle"] == 0, late
    assert Decimal("0.9") < late["read"] + late["send"] < 2, late
    assert_sums([bad, late])


def test_labels_off_and_paths(server, mpm):
    apache = server(mpm, '''
<Location "/api">
    MPMStatLabel api
</Location>
<Location "/quiet">
    MPMStat Off
</Location>
<VirtualHost *>
    ServerName other.example
    DocumentRoot "@ROOT@/htdocs"
</VirtualHost>
''')
    for path, host in (("/api", "a"), ("/api", "a"), ("/quiet", "a"), ("/", "other.example")):
        apache.get(path, headers={"Host": host})
    wait_until(lambda: tool.requests(apache.status()) >= 3, 5, "three requests")
    counts = {e["label"]: e["requests"] for e in tool.labels(apache.status())}
    assert {k: v for k, v in counts.items() if v} == {"api": 2, "other.example": 1}
    assert Counter(r["label"] for r in records_of(apache, 3)) == {"api": 2, "other.example": 1}


@pytest.mark.mpms("worker", "event")
def test_http2_requests_are_counted(server, mpm):
    """Streams are served by threads that are not workers of the MPM."""
    apache = server(mpm, CGI + "Protocols h2c http/1.1", modules=["http2", cgi_module(mpm)])
    path = apache.cgi("nap", "sleep 0.1\necho Content-Type: text/plain\necho\necho done\n")
    # A process each: several URLs of one curl 7.88 fail against any Apache.
    clients = [subprocess.Popen(
        [build.find("curl"), "-sS", "--http2-prior-knowledge", "-o", "/dev/null",
         "-w", "%{http_version} %{http_code}", f"http://127.0.0.1:{apache.port}{p}"],
        stdout=subprocess.PIPE, text=True) for p in [path] * 3 + ["/"] * 7]
    assert [c.communicate(timeout=30)[0] for c in clients] == ["2 200"] * 10
    records = records_of(apache, 10)
    assert_sums(records)
    assert all(r["no_worker"] and r["worker"] is None for r in records), records
    naps = [r for r in records if r["backend"] == "cgi-script"]
    assert len(naps) == 3 and all(r["handle"] > Decimal("0.09") for r in naps), records
