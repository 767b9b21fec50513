"""CPUs, memory, neighbours, the tail, who held the workers, and controls without a fault."""
import os
import signal
import sys

import pages
from judge import case

BUSY = 4     # processes that use a CPU each: on few CPUs they leave others little


# ---- CPUs ------------------------------------------------------------------------------

@case("cpu application-cpu", also="cpu", within=2, maybe="application-cpu php-workers", fast=True)
def php_fills_the_cpus(stage):
    apache, _ = stage.roomy_php(40)
    apache.page("burn.php", pages.burn(15))
    return stage.record(*stage.wrk("/burn.php", 20))


@case("cpu application-cpu", also="cpu", within=2, maybe="application-cpu apache-workers")
def mod_php_fills_the_cpus(stage):
    apache = stage.apache("prefork", mod_php=True, workers=40)
    apache.page("burn.php", pages.burn(10))
    return stage.record(*stage.ab("/burn.php", 20, 500))


@case("cpu-neighbour", maybe="application-cpu", never="cpu php-workers apache-workers", fast=True)
def another_php_takes_the_cpus(stage):
    """A cron job's `php`, that is none of the server's."""
    apache, _ = stage.roomy_php(20)
    apache.page("burn.php", pages.burn(5))
    for _ in range(BUSY):
        stage.program(stage.php_cli(), "-r", pages.BURNER)
    return stage.record(*stage.hey("/burn.php", 2, rate=20))


@case("cpu-neighbour", maybe="application-cpu", never="cpu php-workers apache-workers")
def another_apache_takes_the_cpus(stage):
    """A second Apache with its own load, that is not recorded."""
    apache, _ = stage.roomy_php(20)
    apache.page("burn.php", pages.burn(5))
    other = stage.apache("prefork", 'ScriptAlias "/cgi/" "@ROOT@/cgi/"\n<Directory "@ROOT@/cgi">\n'
                         "Require all granted\n</Directory>", record=False, modules=["cgi"],
                         workers=8, module=False)
    path = other.cgi("burn.cgi", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\n"
                     "echo 'Content-Type: text/plain'\necho\necho done\n")
    stage.program(*stage.ab(path, 6, 100000, "-t", "8", port=other.port))
    return stage.record(*stage.hey("/burn.php", 2, rate=20))


@case("cpu-stolen", maybe="application-cpu", follows="cpu<cpu-stolen",
      never="cpu-neighbour php-workers apache-workers")
def the_hypervisor_takes_the_cpus(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("burn.php", pages.burn(5))
    stage.hypervisor(BUSY)
    return stage.record(*stage.hey("/burn.php", 2, rate=20))


@case("cpu-quota", maybe="cpu application-cpu php-workers", fast=True)
def quota_of_the_group(stage):
    """PHP's group may use three tenths of a CPU."""
    group = stage.group.inner("quota", cpus=0.3)
    apache = stage.apache("event", stock=True, fpm=stage.fpm(20, "pm = static",
                                                             children_in=group))
    apache.page("burn.php", pages.burn(10))
    return stage.record(*stage.ab("/burn.php", 6, 90))


# ---- memory ----------------------------------------------------------------------------

@case("memory requests-died client-errors answers-5xx", also="memory", within=3,
      maybe="requests-died child-churn answers-5xx")
def memory_of_the_group(stage):
    """The kernel kills children of a group that may have 96 MB."""
    group = stage.group.inner("memory", memory=96 << 20)
    apache = stage.apache("prefork", mod_php=True, workers=6, children_in=group)
    apache.page("hungry.php", "<?php ini_set('memory_limit', -1); $s = str_repeat('x', 64 << 20); "
                              "usleep(100000); echo strlen($s);")
    return stage.record(*stage.ab("/hungry.php", 4, 40, "-r"))


@case("memory disk file cpu", also="memory file", follows="file<memory")
def memory_of_the_group_is_short(stage):
    """Nobody is killed: files that PHP reads do not fit into its group's memory, and are read from
    the disk each time."""
    group = stage.group.inner("short", memory=80 << 20)
    apache = stage.apache("event", stock=True, fpm=stage.fpm(4, "pm = static", children_in=group))
    files = stage.scratch / "files"
    files.mkdir()
    files.chmod(0o755)
    for number in range(40):
        with open(files / str(number), "wb") as file:
            file.write(os.urandom(4 << 20))
            file.flush()
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    apache.page("read.php", f"<?php $f = fopen('{files}/' . mt_rand(0, 39), 'r'); "
                            "while (!feof($f)) fread($f, 65536); echo 'done';")
    return stage.record(*stage.wrk("/read.php", 4))


THRASH = """
import mmap, os, sys, time
path = sys.argv[1]
with open(path, "wb") as file:
    file.truncate(128 << 20)
end = time.monotonic() + 30
while time.monotonic() < end:
    with open(path, "r+b") as file:
        while file.read(1 << 20):
            pass
"""


def thrash(stage):
    group = stage.group.inner("neighbour", memory=24 << 20, cpus=0.5)
    script = stage.script("thrash.py", THRASH)
    stage.program(sys.executable, script, stage.scratch / "thrash", group=group)


@case("php-workers", never="memory")
def few_php_workers_and_a_neighbour_that_thrashes(stage):
    thrash(stage)
    apache, _ = stage.stock_php()
    return stage.record(*stage.ab(apache.page("nap.php", pages.NAP), 20, 250))


@case("nothing sleep", never="memory")
def healthy_beside_a_neighbour_that_thrashes(stage):
    thrash(stage)
    apache, _ = stage.roomy_php(20)
    apache.page("nap.php", pages.nap(10))
    return stage.record(*stage.hey("/nap.php", 4, rate=20))


# ---- the tail, and who held the workers ------------------------------------------------

@case("tail sleep", also="tail", within=2, maybe="held-by", never="apache-workers php-workers",
      fast=True, light=True)
def two_in_a_hundred_are_slow(stage):
    apache, _ = stage.roomy_php(20)
    apache.page("tail.php", pages.some(0.02, pages.nap(400), pages.nap(4)))
    return stage.record(*stage.hey("/tail.php", 4))


@case("tail sleep held-by", also="tail", within=3, maybe="held-by sleep")
def a_process_is_stopped(stage):
    """Six of ten processes of PHP are stopped for three seconds, each with a request in it."""
    apache, fpm = stage.roomy_php(10)
    apache.page("nap.php", pages.nap(50))

    def stop():
        pids = fpm.workers()[:6]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        stage.pause(3)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    stage.after(100, stop)
    return stage.record(*stage.hey("/nap.php", 10, seconds=5))


@case("held-by apache-workers", also="held-by apache-workers", within=3,
      says="Label slow.example held", maybe="sleep tail")
def one_virtual_host_holds_the_workers(stage):
    """One request in ten is for the slow host, which has nearly all of the workers' time."""
    hosts = "".join(f"<VirtualHost *>\nServerName {name}.example\n"
                    f'DocumentRoot "@ROOT@/htdocs/{name}"\n</VirtualHost>\n'
                    for name in ("fast", "slow"))
    apache = stage.apache("event", hosts, fpm=stage.fpm(40, "pm = static"), workers=8, threads=8)
    for name, milliseconds in (("fast", 1), ("slow", 800)):
        (apache.root / "htdocs" / name).mkdir()
        apache.page(f"{name}/p.php", pages.nap(milliseconds))
    slow = stage.ab("/p.php", 12, 45, "-H", "Host:slow.example")
    fast = stage.ab("/p.php", 4, 400, "-H", "Host:fast.example", "-t", "4")
    return stage.record("sh", "-c", " ".join(map(str, slow)) + " >/dev/null & exec "
                        + " ".join(map(str, fast)))


# ---- controls --------------------------------------------------------------------------

@case("nothing", maybe="generator", fast=True)
def control_static(stage):
    stage.apache("event", stock=True)
    return stage.record(*stage.hey("/index.html", 4, rate=25))


@case("nothing application-cpu", maybe="application-cpu", fast=True)
def control_php(stage):
    apache, _ = stage.stock_php()
    apache.page("light.php", pages.burn(1))
    return stage.record(*stage.hey("/light.php", 2, rate=20))


@case("nothing application-cpu", maybe="application-cpu tail compiling")
def control_wordpress_like(stage):
    """This PHP has no OPcache: a seventh of its time it compiles."""
    apache, _ = stage.stock_php()
    stage.workloads(apache)
    return stage.record(*stage.hey("/wordpress-like/index.php", 1, rate=5))


@case("nothing application-cpu", maybe="application-cpu")
def control_mod_php(stage):
    apache = stage.apache("prefork", mod_php=True, stock=True)
    apache.page("light.php", pages.burn(1))
    return stage.record(*stage.hey("/light.php", 2, rate=20))


@case("nothing")
def control_low_load(stage):
    stage.apache("worker", stock=True)
    return stage.record(*stage.hey("/index.html", 1, rate=5))


@case("nothing")
def control_with_keep_alive(stage):
    """More connections than prefork is busy with, and all have a worker."""
    stage.apache("prefork", "KeepAlive On\n", workers=30)
    return stage.record(*stage.hey("/index.html", 10, rate=10))


@case("nothing", maybe="tls")
def control_tls(stage):
    stage.apache("event", stage.certificate() + DEBIAN_TLS, stock=True,
                 modules=["ssl", "socache_shmcb"])
    return stage.record(*stage.hey("/index.html", 4, rate=20, scheme="https"))


@case("too-short")
def control_too_short(stage):
    stage.apache("event", stock=True)
    return stage.record(*stage.ab("/index.html", 1, 5))


DEBIAN_TLS = "SSLProtocol all -SSLv3\nSSLCipherSuite HIGH:!aNULL\nSSLSessionTickets off\n"
