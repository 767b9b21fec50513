"""What others are told of a request, and what it is told by a proxy in front: MPMSTAT in the
environment of programs, notes for the access log, Server-Timing, X-Request-Start."""
import os
import re
import subprocess
import time
from decimal import Decimal

import pytest

import build
import fcgid
import handover
import http2
import php
import tls
from apache import hold_port
from phases import CGI, assert_sums, cgi_module, record_of, records_of
from processes import wait_until

PHASES = ("queue", "read", "handle", "send", "total", "held", "front")
MICROSECOND = Decimal("0.000001")


def lines_of(apache, name, count):
    """Those of a log, once there are as many."""
    def look():
        log = apache.root / name
        lines = log.read_text().splitlines() if log.exists() else []
        return lines if len(lines) >= count else None
    return wait_until(look, 10, lambda: f"{count} lines in {name}")


def served(apache, path, **options):
    """(response, record) of a request on a connection of its own."""
    with apache.connect() as connection:
        response = connection.request(path, keep=False, **options)
    return response, record_of(apache, connection.port)


def front_of(apache):
    """How many requests' `front` the server's label has counted, and their sum."""
    (entry,) = [e for e in apache.status()["labels"] if e["label"] == "test.example"]
    return entry["phases"]["front"]["count"], entry["phases"]["front"]["sum_seconds"]


# ---- X-Request-Start ----------------------------------------------------------------------


def test_request_start_is_not_trusted(server, mpm):
    """Any client can send it."""
    apache = server(mpm)
    now = time.time()
    for value in (f"t={now - 2}", f"{now - 2:.0f}", f"{(now - 2) * 1000:.0f}"):
        assert apache.get("/", headers={"X-Request-Start": value}).status == 200
    assert [r["front"] for r in records_of(apache, 3)] == [None] * 3
    assert front_of(apache) == (0, 0)


UNITS = {"t=seconds": ("t={:.6f}", 1, "0.000002"), "seconds": ("{:.0f}", 1, "1.1"),
         "milliseconds": ("t={:.0f}", 10**3, "0.002"),
         "microseconds": ("{:.0f}", 10**6, "0.000002")}


@pytest.mark.parametrize("unit", UNITS)
def test_request_start_where_it_is_trusted(server, mpm, unit):
    """The time from then to `start`, both by the same wall clock, in no sum."""
    form, per_second, grain = UNITS[unit]
    apache = server(mpm, "MPMStatTrustRequestStart On")
    began = [time.time() - age for age in (0.5, 5, 50)]
    with apache.connect() as connection:
        for instant in began:
            text = form.format(instant * per_second)
            connection.request("/", headers={"X-Request-Start": text})
        assert connection.request("/").status == 200
    records = sorted(records_of(apache, 4), key=lambda r: r["nth"])
    assert_sums(records)
    assert records.pop()["front"] is None
    for record, instant in zip(records, began):
        # `start` is the same clock's, but for what it was set by since the server's start.
        off = record["start"] - Decimal(instant) - record["front"]
        assert abs(off) < Decimal(grain) + Decimal("0.05"), (record, instant)
    assert front_of(apache) == (3, sum(r["front"] for r in records))


def test_request_start_that_cannot_be(server, mpm):
    apache = server(mpm, "MPMStatTrustRequestStart On")
    now = time.time()
    nonsense = ("", "yesterday", "t=", "-1", "1e9", f"t={now + 60}", f"t={now - 7200}",
                f"{now - 1}, {now - 1}", "9" * 400, "%{msec}")
    for value in nonsense:
        assert apache.get("/", headers={"X-Request-Start": value}).status == 200, value
    records = records_of(apache, len(nonsense))
    assert [r["front"] for r in records] == [None] * len(nonsense), records
    _, ahead = served(apache, "/", headers={"X-Request-Start": f"t={time.time() + 0.5}"})
    assert ahead["front"] == 0


def test_request_start_by_directory(server, mpm):
    """As the client sent it, whatever RequestHeader makes of it for others."""
    apache = server(mpm, '''
        RequestHeader set X-Request-Start "%t"
        <Location "/trusted">
            MPMStatTrustRequestStart On
        </Location>
        <Location "/trusted/not">
            MPMStatTrustRequestStart Off
        </Location>''', modules=["headers"])
    fronts = [served(apache, path, headers={"X-Request-Start": f"t={time.time() - 3}"})[1]["front"]
              for path in ("/", "/trusted", "/trusted/not")]
    assert fronts[0] is None and fronts[2] is None and Decimal(2.9) < fronts[1] < 10, fronts


# ---- MPMSTAT ------------------------------------------------------------------------------

SHOW_ENV = 'echo Content-Type: text/plain\necho\nenv | grep -a MPMSTAT\n'
SHOW_PHP = ("<?php header('Content-Type: text/plain');"
            "foreach (['MPMSTAT', 'MPMSTAT_ID'] as $name)"
            "  echo $name, '=', $_SERVER[$name] ?? '', \"\\n\","
            "       $name, '=', getenv($name), \"\\n\";")


def told(text):
    """What a program's answer says it was told: {name: value}."""
    found = {}
    for line in re.findall(r"^MPMSTAT(?:_ID)?=.*$", text, re.M):
        name, _, value = line.partition("=")
        assert found.setdefault(name, value) == value, text   # however it is asked for
    return found


def assert_handed_over(text, record, before, after):
    """It says which request this is, when it was handed over, and by which clock."""
    found = told(text)
    assert set(found) == {"MPMSTAT", "MPMSTAT_ID"}, text
    number, handed_over, boot, namespace = found["MPMSTAT"].split(":")
    assert number == found["MPMSTAT_ID"] == str(record["id"]), (text, record)
    assert before <= int(handed_over) <= after, (before, handed_over, after)
    assert (boot, int(namespace)) == (handover.boot(), handover.TIME_NAMESPACE)
    # The text is in phpinfo(), and goes to FastCGI servers elsewhere: not the boot id itself.
    assert not any(part in text for part in handover.BOOT_ID.split("-") if len(part) > 4), text


def ask(apache, path, status=200):
    """Asks, and checks what the program was told against the journal's record."""
    before = time.monotonic_ns()
    response, record = served(apache, path)
    after = time.monotonic_ns()
    assert response.status == status, response
    assert_handed_over(response.text(), record, before, after)
    return response.text()


def test_cgi_is_told(server, mpm):
    apache = server(mpm, CGI + "ErrorDocument 404 /cgi/env", modules=[cgi_module(mpm)])
    page = apache.cgi("env", SHOW_ENV)
    ask(apache, page)
    ask(apache, page)
    text = ask(apache, "/nowhere", status=404)
    assert "REDIRECT_MPMSTAT" not in text, "a file that is missing is not a program"


def test_php_is_told(php_server, mpm):
    """mod_php and PHP-FPM: asked for by name, by mod_dir, as an error document."""
    apache = php_server(mpm, "ErrorDocument 404 /env.php\nDirectoryIndex env.php")
    apache.page("env.php", SHOW_PHP)
    ask(apache, "/env.php")
    ask(apache, "/")
    ask(apache, "/nowhere", status=404)


def test_php_by_its_media_type_is_told(server, mpm):
    """AddType and no handler, as mod_php was set up once."""
    if mpm != "prefork":
        pytest.skip("mod_php is prefork's")
    apache = server(mpm, "AddType application/x-httpd-php .phtml", php="mod_php")
    ask(apache, apache.page("env.phtml", SHOW_PHP))


def test_a_program_by_action_is_told(server, mpm):
    """An internal redirect: the request is still the client's."""
    apache = server(mpm, CGI + "Action show /cgi/env virtual\n<Location /shown>\n"
                    "SetHandler show\n</Location>", modules=[cgi_module(mpm), "actions"])
    apache.cgi("env", SHOW_ENV)
    ask(apache, "/shown")


@pytest.mark.skipif(not fcgid.FCGID.exists() or not php.CGI, reason="needs mod_fcgid, php-cgi")
def test_fcgid_is_told(server, mpm):
    apache = server(mpm, fcgid.fcgid(), modules=["fcgid"])
    page = apache.page("env.php", SHOW_PHP)
    ask(apache, page)
    ask(apache, page)


@pytest.mark.skipif(not php.CGI, reason="needs php-cgi")
def test_php_as_cgi_is_told(server, mpm):
    apache = server(mpm, fcgid.cgi(), modules=[cgi_module(mpm), "actions"])
    ask(apache, apache.page("env.php", SHOW_PHP))


def test_a_sub_request_is_told(server, mpm):
    """The outer one's id, and each its own time."""
    apache = server(mpm, CGI + '<Directory "@ROOT@/htdocs">\nOptions +Includes\n'
                    "AddType text/html .shtml\nAddOutputFilter INCLUDES .shtml\n</Directory>",
                    modules=[cgi_module(mpm), "include"])
    page = apache.cgi("env", SHOW_ENV)
    apache.page("two.shtml", f'<!--#include virtual="{page}" -->\n'
                             f'<!--#include virtual="{page}" -->\n')
    before = time.monotonic_ns()
    text = apache.get("/two.shtml").text()
    after = time.monotonic_ns()
    (record,) = records_of(apache, 1)
    # The second one's environment, a copy of the outer one's, is without the first one's.
    parts = text.strip().split("\n\n")
    assert len(parts) == 2, text
    for part in parts:
        assert_handed_over(part, record, before, after)
    first, second = (int(told(part)["MPMSTAT"].split(":")[1]) for part in parts)
    assert first < second


def test_what_is_not_recorded_is_not_told(server, mpm):
    apache = server(mpm, CGI + '<Location "/cgi">\nMPMStat Off\n</Location>',
                    modules=[cgi_module(mpm)])
    assert told(apache.get(apache.cgi("env", SHOW_ENV + "true\n")).text()) == {}


# ---- notes ---------------------------------------------------------------------------------

NOTES = ('LogFormat "%{mpmstat-id}n %{MPMSTAT_ID}e %>s '
         + " ".join(f"%{{mpmstat-{phase}}}n" for phase in PHASES) + '" notes\n'
         'CustomLog "@ROOT@/notes.log" notes "expr=! %{REQUEST_URI} =~ m#^/mpm-status#"\n')


def logged_notes(apache, count):
    """{id: (status, {phase: seconds or None})} of as many lines."""
    lines = lines_of(apache, "notes.log", count)
    found = {}
    for line in lines:
        number, in_environment, status, *times = line.split()
        assert number == in_environment, line
        assert all(re.fullmatch(r"-|\d+\.\d{9}", t) for t in times), line
        found[int(number)] = (int(status), {
            phase: None if t == "-" else Decimal(t) for phase, t in zip(PHASES, times)})
    assert len(found) == len(lines) == count, lines
    return found


def assert_notes(apache, count):
    """The access log says of each request what the journal says: `held` as it was before the line
    was written."""
    records = {r["id"]: (r["status"], {**{phase: r[phase] for phase in PHASES},
                                       "held": r["held"] - (0 if r["no_worker"] else r["log"])})
               for r in records_of(apache, count)}
    assert logged_notes(apache, count) == records


MIXED = CGI + NOTES + '''
MPMStatNotes On
MPMStatTrustRequestStart On
ErrorDocument 404 /missing.html
ErrorDocument 403 /cgi/env
Action show /cgi/env virtual
<Location "/shown">
    SetHandler show
</Location>
<Location "/forbidden">
    Require all denied
</Location>
'''


def test_notes_are_the_journals(server, mpm):
    """Kept alive and not, redirected, an error or malformed; with and without a proxy's header."""
    apache = server(mpm, MIXED, modules=[cgi_module(mpm), "actions"])
    apache.allow("AH01630")
    apache.page("missing.html", "missing\n")
    nap = apache.cgi("nap", "sleep 0.3\necho Content-Type: text/plain\necho\necho done\n")
    apache.cgi("env", SHOW_ENV)
    front = {"X-Request-Start": f"t={time.time() - 1}"}
    paths = ("/", "/index.html", nap, "/shown", "/nowhere", "/forbidden", "/index.html")
    with apache.connect() as connection:
        statuses = [connection.request(path, headers=front if nth % 2 else {}).status
                    for nth, path in enumerate(paths)]
    assert statuses == [200, 200, 200, 200, 404, 403, 200]
    assert apache.get("/", method="HEAD").status == 200
    with apache.connect() as connection:
        connection.send("GET / HTTP/1.1\r\nno header\r\n\r\n")
        assert connection.read_response().status == 400
    assert_notes(apache, len(paths) + 2)


def test_notes_of_http2(server, mpm):
    if mpm == "prefork":
        pytest.skip("mod_http2 is for threads")
    apache = server(mpm, MIXED + "Protocols h2c http/1.1",
                    modules=[cgi_module(mpm), "actions", "http2"])
    apache.page("missing.html", "missing\n")
    apache.cgi("env", SHOW_ENV)
    with http2.Session(apache.port) as session:
        streams = [session.send_get(path) for path in ("/", "/shown", "/nowhere", "/index.html")]
        for stream in streams:
            session.read_stream(stream)
    assert_notes(apache, len(streams))


def test_notes_of_redirects_are_both_requests(server, mpm):
    """`%<` is the request as it came, without it what has become of that: the same."""
    apache = server(mpm, 'ErrorDocument 404 /index.html\nMPMStatNotes On\n'
                    'LogFormat "%<{mpmstat-id}n %{mpmstat-id}n %<{MPMSTAT_ID}e" both\n'
                    'CustomLog "@ROOT@/both.log" both')
    assert apache.get("/nowhere").status == 404
    (line,) = lines_of(apache, "both.log", 1)    # before others of the journal's readers
    (record,) = records_of(apache, 1)
    assert line.split() == [str(record["id"])] * 3


ITK = build.APACHE_MODULES / "mpm_itk.so"


@pytest.mark.mpms("prefork")
@pytest.mark.skipif(os.geteuid() != 0 or not ITK.exists(), reason="needs root and mpm_itk")
def test_itk(server, mpm):
    """The forked process notes and hands over as any other."""
    apache = server(mpm, f"LoadModule mpm_itk_module {ITK}\nAssignUserID www-data nogroup\n"
                    + MIXED, modules=["cgi", "actions"])
    page = apache.cgi("env", SHOW_ENV)
    with apache.connect() as connection:
        texts = [connection.request(page).text() for _ in range(3)]
    assert_notes(apache, 3)
    assert [int(told(text)["MPMSTAT_ID"]) for text in texts] == [
        r["id"] for r in sorted(records_of(apache, 3), key=lambda r: r["nth"])]


def test_notes_by_directory(server, mpm):
    """None without the directive; nor where a request is not recorded."""
    apache = server(mpm, NOTES.replace("notes.log", "other.log") + '''
        <Location "/on">
            MPMStatNotes On
        </Location>
        <Location "/on/off">
            MPMStatNotes Off
        </Location>
        <Location "/on/unrecorded">
            MPMStat Off
        </Location>''')
    for path in ("/", "/on/off", "/on/unrecorded"):
        apache.get(path)
    _, record = served(apache, "/on")
    lines = lines_of(apache, "other.log", 4)
    assert sorted(line.split()[0] != "-" for line in lines) == [False, False, False, True], lines
    assert sum(line.startswith("- - ") and line.endswith(" -" * len(PHASES)) for line in lines) == 3
    (noted,) = [int(line.split()[0]) for line in lines if line[0] != "-"]
    assert noted == record["id"], lines


# ---- Server-Timing -------------------------------------------------------------------------

TIMING = re.compile(r"queue;dur=(\d+\.\d{3}), read;dur=(\d+\.\d{3}), handle;dur=(\d+\.\d{3})")


def timings(headers, record):
    """The header's times in seconds, checked against the record."""
    match = TIMING.search(headers)
    assert match, headers
    queue, read, handle = (Decimal(n) / 1000 for n in match.groups())
    assert queue == record["queue"] - record["queue"] % MICROSECOND, (headers, record)
    if record["status"] != 400:   # malformed: nobody knows when its headers were read
        assert read == record["read"] - record["read"] % MICROSECOND, (headers, record)
        assert handle <= record["handle"], (headers, record)
    return queue, read, handle


def test_server_timing(server, mpm):
    """On every response of the server's, also on errors; `handle` until the response begins."""
    apache = server(mpm, CGI + "MPMStatServerTiming On\nErrorDocument 404 /missing.html\n"
                    '<Location "/forbidden">\nRequire all denied\n</Location>',
                    modules=[cgi_module(mpm)])
    apache.page("missing.html", "missing\n")
    nap = apache.cgi("nap", "sleep 0.3\necho Content-Type: text/plain\necho\necho done\n")
    fails = apache.cgi("fails", "exit 1\n")
    apache.allow("AH01630|End of script output before headers")
    (apache.root / "htdocs" / "directory").mkdir()
    tag = apache.get("/index.html").headers["etag"]
    asked = [("/", {}, 200), (nap, {}, 200), ("/nowhere", {}, 404), ("/forbidden", {}, 403),
             ("/directory", {}, 301), ("/index.html", {"If-None-Match": tag}, 304),
             (fails, {}, 500)]
    for path, headers, status in asked:
        answer, record = served(apache, path, headers=headers)
        assert answer.status == record["status"] == status, (path, answer)
        _, _, handle = timings(answer.headers["server-timing"], record)
        assert handle > Decimal("0.29") or path != nap, answer
    with apache.connect() as connection:
        connection.send("GET / HTTP/1.1\r\nno header\r\n\r\n")
        malformed = connection.read_response()
    assert malformed.status == 400
    timings(malformed.headers["server-timing"], record_of(apache, connection.port))


def test_server_timing_is_added(server, mpm):
    """It is added once, to the header of the application or of mod_headers."""
    program = build.find("curl")
    assert program, "there is no curl: install curl"
    apache = server(mpm, CGI + "MPMStatServerTiming On\n"
                    '<Location "/cgi/set">\nHeader set Server-Timing "proxy;dur=2"\n</Location>\n'
                    '<Location "/cgi/always">\nHeader always set Server-Timing "proxy;dur=2"\n'
                    "</Location>", modules=[cgi_module(mpm), "headers"])
    script = "echo Content-Type: text/plain\necho 'Server-Timing: app;dur=1'\necho\necho\n"
    paths = [apache.cgi(name, script) for name in ("own", "set", "always")]
    for path, others in zip(paths, ("app;dur=1", "proxy;dur=2", "proxy;dur=2")):
        head = subprocess.run([program, "-sS", "-D", "-", "-o", "/dev/null",
                               f"http://127.0.0.1:{apache.port}{path}"], text=True, check=True,
                              stdout=subprocess.PIPE, timeout=30).stdout
        lines = re.findall(r"(?i)^server-timing: (.*?)\r?$", head, re.M)
        assert others in lines, head
        assert sum(bool(TIMING.fullmatch(line)) for line in lines) == 1, head


def test_server_timing_of_sub_requests_and_redirects(server, mpm):
    """One header for the request that the client sent."""
    apache = server(mpm, CGI + "MPMStatServerTiming On\nAction show /cgi/nap virtual\n"
                    "<Location /shown>\nSetHandler show\n</Location>\n"
                    '<Directory "@ROOT@/htdocs">\nOptions +Includes\nAddType text/html .shtml\n'
                    "AddOutputFilter INCLUDES .shtml\n</Directory>",
                    modules=[cgi_module(mpm), "actions", "include"])
    nap = apache.cgi("nap", "sleep 0.2\necho Content-Type: text/plain\necho\necho done\n")
    apache.page("outer.shtml", f'<!--#include virtual="{nap}" -->\n')
    for answer, record in (served(apache, "/shown"), served(apache, "/outer.shtml")):
        assert "done" in answer.text() and "erver-" not in answer.text(), answer
        assert answer.headers["server-timing"].count("queue;dur=") == 1
        timings(answer.headers["server-timing"], record)


@pytest.mark.mpms("worker", "event")
def test_server_timing_of_http2(server, mpm, tmp_path):
    program, holder = build.find("curl"), hold_port()
    port = holder.getsockname()[1]
    apache = server(mpm, f"Listen 127.0.0.1:{port}\nProtocols h2 http/1.1\n{CGI}\n"
                    f"MPMStatServerTiming On\n<VirtualHost 127.0.0.1:{port}>\n"
                    f"{tls.make_certificate(tmp_path)}</VirtualHost>",
                    modules=["ssl", "http2", cgi_module(mpm)])
    nap = apache.cgi("nap", "sleep 0.2\necho Content-Type: text/plain\necho\necho done\n")
    try:
        for path in ("/", nap, "/nowhere"):
            said = subprocess.run([program, "-skS", "--http2", "-D", "-", "-o", "/dev/null", "-w",
                                   "%{local_port}", f"https://127.0.0.1:{port}{path}"], text=True,
                                  check=True, stdout=subprocess.PIPE, timeout=30).stdout
            assert said.startswith("HTTP/2") and said.count("server-timing: ") == 1, said
            timings(said, record_of(apache, int(said.split()[-1])))
    finally:
        holder.close()


# ---- none of it -----------------------------------------------------------------------------


def test_by_default_nobody_is_told_but_programs(server, mpm):
    apache = server(mpm, CGI + NOTES, modules=[cgi_module(mpm)])
    page = apache.cgi("env", SHOW_ENV)
    answers = [apache.get(path, headers={"X-Request-Start": "t=1700000000"})
               for path in ("/", "/nowhere", page)]
    assert not any("server-timing" in a.headers for a in answers)
    ids = [line.split()[:2] for line in lines_of(apache, "notes.log", 3)]
    assert sorted(ids) == [["-", "-"]] * 2 + [["-", told(answers[2].text())["MPMSTAT_ID"]]]


@pytest.mark.parametrize("directive", ["MPMStatTrustRequestStart", "MPMStatTrustClientId",
                                       "MPMStatNotes", "MPMStatServerTiming"])
def test_wrong_values_are_refused(server, mpm, directive):
    apache = server(mpm)
    good = apache.configuration.read_text()
    for value in ("Sometimes", ""):
        apache.configuration.write_text(f"{good}\n{directive} {value}\n")
        code, said = apache.configtest()
        assert code != 0 and directive in said and "On or Off" in said, said
    apache.configuration.write_text(
        f'{good}\n{directive} On\n<Location "/x">\n{directive} Off\n</Location>\n')
    code, said = apache.configtest()
    assert code == 0, said
