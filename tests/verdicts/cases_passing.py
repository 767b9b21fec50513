"""Faults that hold for a part of the run: when they did, and what stood still meanwhile.

A page's time of day is the plant: PAGE_FOR is slow between two moments after the first request,
which is when the run began.
"""
import subprocess

import pages
from judge import case

# %s: the file of the first request's time; from and until when, in seconds after it; what is done
# then, and otherwise.
PAGE_FOR = """<?php $f = @fopen('%s', 'x'); if ($f) fwrite($f, microtime(true));
$age = microtime(true) - (float) file_get_contents('%s');
if ($age >= %s && $age < %s) { %s } else { %s }"""


def page_for(stage, since, until, meanwhile, usual=pages.QUICK):
    first = stage.place("first") / "request"
    bodies = [text.removeprefix("<?php ") for text in (meanwhile, usual)]
    return PAGE_FOR % (first, first, since, until, *bodies)


# ---- when ------------------------------------------------------------------------------

@case("tail sleep", maybe="tail sleep", when=(2, 3.5), light=True)
def slow_for_a_while(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("p.php", page_for(stage, 2, 3.5, pages.nap(150)))
    return stage.record(*stage.hey("/p.php", 6, seconds=7, rate=15))


@case("php-workers php-spawning", maybe="tail sleep", when=(1.5, 3), light=True)
def workers_short_for_a_while(stage):
    """Sixteen clients on Debian's pool: it has workers for all but a second and a half, in which it
    starts one or two more."""
    apache, _ = stage.stock_php()
    apache.page("p.php", page_for(stage, 1.5, 3, pages.nap(200)))
    return stage.record(*stage.hey("/p.php", 16, seconds=6, rate=4))


@case("answers-5xx", when=(2, 3.5), light=True)
def failing_for_a_while(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("p.php", page_for(stage, 2, 3.5, "<?php http_response_code(503);"))
    return stage.record(*stage.hey("/p.php", 4, seconds=6, rate=15))


@case("application-cpu tail", maybe="application-cpu tail cpu", when=(0, 1.5))
def cold_at_first(stage):
    """A cache that fills: each page computes until then."""
    apache, _ = stage.roomy_php(20)
    apache.page("p.php", page_for(stage, 0, 1.5, pages.burn(150)))
    return stage.record(*stage.hey("/p.php", 2, seconds=7, rate=5))


# ---- what stood still ------------------------------------------------------------------

@case("file disk stuck-requests tail", maybe="file disk tail sleep", says="state D",
      never="php-workers apache-workers cpu", light=True)
def a_snapshot_freezes_the_disk(stage):
    """A backup freezes the file system for six seconds; pages that write to it wait, and nothing
    can end their processes."""
    place = stage.file_system(32 << 20)
    apache, _ = stage.roomy_php(10)
    apache.page("write.php", f"<?php file_put_contents('{place}/' . getmypid(), 'x'); "
                             "usleep(20000); echo 'done';")

    def freeze():
        subprocess.run(["fsfreeze", "-f", place], check=True)
        stage.pause(6)
        subprocess.run(["fsfreeze", "-u", place], check=True)
    stage.after(60, freeze)
    return stage.record(*stage.hey("/write.php", 4, seconds=9, rate=15))


@case("server-restarted sleep", also="server-restarted", never="apache-spawning",
      maybe="tail",
      says="of the generation before kept", light=True)
def children_of_before_keep_their_slots(stage):
    """A graceful restart while downloads of three seconds run: their children keep slots that the
    new ones lack."""
    apache = stage.apache("event", fpm=stage.fpm(40, "pm = static"), workers=10, threads=5)
    apache.page("long.php", pages.nap(3000))
    apache.page("nap.php", pages.nap(50))
    stage.after(40, lambda: apache.restart(wait=False))
    slow = stage.ab("/long.php", 4, 8)
    quick = stage.ab("/nap.php", 5, 400)
    return stage.record("sh", "-c", " ".join(map(str, slow)) + " >/dev/null & exec "
                        + " ".join(map(str, quick)))


# ---- others' memory --------------------------------------------------------------------

WRITE_AND_READ = """
import os, sys, time
path = sys.argv[1]
end = time.monotonic() + 30
block = os.urandom(1 << 20)
with open(path, "wb") as file:
    for _ in range(96):
        file.write(block)
while time.monotonic() < end:
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass
"""


@case("nothing sleep memory-neighbour", also="memory-neighbour", maybe="sleep",
      never="memory disk file")
def memory_is_short_next_door(stage):
    """A group beside the server's reads what does not fit into its memory, again and again."""
    group = stage.group.inner("neighbour", memory=24 << 20)
    script = stage.script("neighbour.py", WRITE_AND_READ)
    for number in range(4):
        stage.program("/usr/bin/python3", script, stage.scratch / f"big{number}", group=group)
    apache, _ = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(10))
    stage.pause(2)
    return stage.record(*stage.hey("/nap.php", 4, seconds=6, rate=20))
