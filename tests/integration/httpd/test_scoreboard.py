"""The letters agree with Apache's own. The witness is mod_status."""
import re
from collections import Counter

import tool
from phases import CGI, cgi_module
from pool import all_there
from processes import wait_until

STATUS = '''
<Location "/server-status">
    SetHandler server-status
</Location>
''' + CGI


def letters(apache):
    (line,) = re.findall(r"^Scoreboard: (.*)$", apache.get("/server-status?auto").text(), re.M)
    return line


def shown(apache):
    return apache.status()["apache_scoreboard"]


def test_letters_are_mod_statuss(server, mpm):
    """Idle and busy, in each place; the file does not know them."""
    apache = server(mpm, STATUS, workers=8, threads=4, modules=["status", cgi_module(mpm)])
    apache.allow("AH0")
    nap = apache.cgi("nap", "sleep 9\necho Content-Type: text/plain\necho\necho done\n")
    all_there(apache)
    connections = [apache.connect() for _ in range(3)]
    try:
        connections[0].send("GET / HTTP/1.1\r\n")
        connections[1].send_request(nap)
        connections[2].request("/")
        expected = Counter("RW" if mpm == "event" else "RWK")

        def agree():
            theirs, ours = letters(apache), shown(apache)
            # The worker that answers is busy with that, and is not always the same.
            same = sum(a == b for a, b in zip(theirs, ours))
            return (len(theirs) == len(ours) == 8 and same >= 6
                    and Counter(theirs) == Counter(ours)
                    and not expected - Counter(ours) and ours.count("_") >= 3)
        wait_until(agree, 9, lambda: f"{letters(apache)} and {shown(apache)}")
        # By now any worker can be anywhere in its work: all of Apache's letters but "starting".
        assert re.search(r"^ApacheScoreboard: [_RWKDCLGI.]{8}$",
                         apache.get("/mpm-status").text(), re.M)
        assert tool.status(apache.board)["apache_scoreboard"] is None
        assert "ApacheScoreboard" not in tool.run("status", apache.board).stdout
    finally:
        for connection in connections:
            connection.reset()


def test_slots_that_are_not_used(server, mpm):
    """Room that is not in use is a dot, as far as the present limit goes; what is beyond that
    is not shown."""
    threads = 1 if mpm == "prefork" else 2
    limits = f"ServerLimit 10\nMaxRequestWorkers {6 * threads}\nStartServers 2\n"
    if mpm == "prefork":
        limits += "MinSpareServers 1\nMaxSpareServers 10\n"
    else:
        limits = (f"ThreadLimit 5\nThreadsPerChild 2\n{limits}MinSpareThreads 1\n"
                  "MaxSpareThreads 20\n")
    apache = server(mpm, STATUS, limits=limits, workers=2 * threads, modules=["status", "cgi"])
    all_there(apache)
    wait_until(lambda: letters(apache).count(".") == 4 * threads, 30, "httpd's own slots")
    theirs, ours = letters(apache), shown(apache)
    assert len(ours) == len(theirs) and ours.count(".") == theirs.count("."), (theirs, ours)
    assert ours.count(".") == 4 * threads, ours
