"""What the tests of agreement share: the words of the source, numbers as people read them, and real
servers with a load of each kind.

    with real_servers() as (apache, fpm):
        script = load_script(apache, directory)
"""
import re
from collections import namedtuple
from contextlib import contextmanager
from decimal import Decimal

import apache as servers_of_tests
import build
import php
from fpm import FPM

# ---- words -----------------------------------------------------------------------------------


def parts_def():
    """[(within, name)] of lib/segment/parts.def."""
    text = (build.SRCDIR / "lib/segment/parts.def").read_text()
    return [(within or "PHP_RUN", name) for within, name in re.findall(
        r'^MST_(?:(?:INTERVAL_)?PART\(\w+, (\w+), |WAIT_PART\(\w+, )"(\w+)"', text, re.MULTILINE)]


def terms():
    """{"PHASES": ["queue", ...], ...} of lib/segment/terms.h."""
    text = (build.SRCDIR / "lib/segment/terms.h").read_text()
    return {kind: re.findall(r'X\(\w+, +"([\w-]+)"\)', names) for kind, names in re.findall(
        r"#define MST_(\w+)\(X\)((?:.*\\\n)*.*)", text)}


def nouns():
    """{part: what sentences begin with}"""
    text = (build.SRCDIR / "lib/segment/parts.def").read_text()
    found = re.findall(r'^MST_PART\(\w+, \w+, "(\w+)", "\w+", "(.*?)"\)', text, re.M)
    found += re.findall(r'^MST_INTERVAL_PART\(\w+, \w+, "(\w+)", "\w+",\s*"(.*?)",', text, re.M)
    found += [(name, "PHP's waiting for " + what) for name, what in re.findall(
        r'^MST_WAIT_PART\(\w+, "(\w+)", "\w+", \w+, "(.*?)",', text, re.M)]
    return {name: noun[0].upper() + noun[1:] for name, noun in found}


Field = namedtuple("Field", "scope storage id type unit nature of json text openmetrics")


def fields_def():
    """The rows of lib/segment/fields.def, without their help."""
    text = (build.SRCDIR / "lib/segment/fields.def").read_text()
    rows = re.findall(r"^MST_FIELD\((.*),$", text, re.M)
    return [Field(*(None if word == "NULL" else word.strip('"')
                    for word in re.split(r", +", row))) for row in rows]


PARTS = parts_def()
NAMES = [name for _, name in PARTS]
RUN = [name for within, name in PARTS if within == "PHP_RUN"]
PHASES = ("queue", "read", "handle", "send")


# ---- numbers as people read them -------------------------------------------------------------


def printed_seconds(text):
    number, unit = (text + " s").split()[:2]
    return Decimal(number) * {"ns": Decimal("1e-9"), "us": Decimal("1e-6"), "µs": Decimal("1e-6"),
                              "ms": Decimal("1e-3"), "s": Decimal(1), "min": Decimal(60)}[unit]


def is_close(one, other, rounded=Decimal("0.006")):
    """Equal, as far as numbers of three digits tell."""
    return abs(one - other) <= max(abs(one), abs(other)) * rounded + Decimal("5e-9")


# ---- a real load of each kind ----------------------------------------------------------------

STREAMS = """<?php
for ($i = 0; $i < 5; $i++) { echo str_repeat('x', 100000); flush(); usleep(20000); }"""
LOCKS = "<?php flock($file = fopen(__FILE__, 'r'), LOCK_EX); usleep(20000);"
# It computes for much longer than its client waits for it.
GOES_ON = """<?php
echo 'x';
fastcgi_finish_request();
for ($end = getrusage()['ru_utime.tv_sec'] * 1e6 + getrusage()['ru_utime.tv_usec'] + 60000;
     getrusage()['ru_utime.tv_sec'] * 1e6 + getrusage()['ru_utime.tv_usec'] < $end;);"""
CONFIGURATION = """Protocols h2c http/1.1
<Location "/limited">
SetOutputFilter RATE_LIMIT
SetEnv rate-limit 200
</Location>
<Location "/large">
MPMStatLabel files
</Location>
"""
AT = 'at() { curl -sS -o /dev/null --max-time 20 "$@" || exit 1; }\n'
# Several at a time of each.
LOADS = AT + """
for i in 1 2 3 4; do
    at http://127.0.0.1:PORT/streams.php &
    at --limit-rate 400K http://127.0.0.1:PORT/large &
    at http://127.0.0.1:PORT/limited &
    at --limit-rate 100K -T UPLOAD http://127.0.0.1:PORT/streams.php &
    at --http2-prior-knowledge http://127.0.0.1:PORT/index.html &
    at http://127.0.0.1:PORT/index.html http://127.0.0.1:PORT/not-there &
    at http://127.0.0.1:PORT/locks.php &
    at http://127.0.0.1:PORT/locks.php &
    at "http://127.0.0.1:PORT/sleep.php?seconds=0.05" &
    at "http://127.0.0.1:PORT/loop.php?iterations=1000000" http://127.0.0.1:PORT/goes-on.php &
    wait
done
"""
FEW = AT + """
at "http://127.0.0.1:PORT/sleep.php?seconds=0.03" http://127.0.0.1:PORT/streams.php &
at "http://127.0.0.1:PORT/loop.php?iterations=300000" &
at http://127.0.0.1:PORT/index.html http://127.0.0.1:PORT/large http://127.0.0.1:PORT/not-there &
wait
"""


@contextmanager
def real_servers(configuration=""):
    """(Apache, FPM); @RUN@ in the configuration stands for the directory of FPM's board."""
    with FPM(3, settings=php.settings("@ROOT@/run")) as fpm, \
            servers_of_tests.Apache(
                "event", CONFIGURATION + configuration.replace("@RUN@", str(fpm.root / "run")),
                php="fpm", fpm=fpm, workers=20, modules=["ratelimit", "http2"]) as apache:
        apache.page("streams.php", STREAMS)
        apache.page("locks.php", LOCKS)
        apache.page("goes-on.php", GOES_ON)
        apache.page("large", b"x" * 400_000)
        apache.page("limited", b"x" * 100_000)
        yield apache, fpm


def load_script(apache, directory):
    """For sh -c."""
    upload = directory / "upload"
    upload.write_bytes(b"x" * 60_000)
    return LOADS.replace("PORT", str(apache.port)).replace("UPLOAD", str(upload))


def few_script(apache):
    """Fewer requests than that, of fewer kinds."""
    return FEW.replace("PORT", str(apache.port))
