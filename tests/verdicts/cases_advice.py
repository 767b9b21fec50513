"""Advice that is followed: the rate that a finding predicts is met within 15 %."""
import pages
from judge import case
from stage import DEBIAN_CHILDREN, DEBIAN_POOL


def advised(run, code):
    """The workers that the finding of that code advises, and the rate that it predicts; None
    where it cannot say or is not there."""
    for finding in run["findings"]:
        numbers = finding.get("numbers", {})
        if finding["code"] == code and "predicted_rate_milli" in numbers:
            return numbers["workers_advised"], numbers["predicted_rate_milli"] / 1000
    return None


def advice(code, start, *, helps=True, first="", **options):
    """The function below it records a load with so many workers; it runs with `start` of them,
    and again with as many as the finding advises. helps: more workers do help. first:
    codes that can be before it, too."""
    def add(record):
        def plant(stage):
            run = record(stage, start)
            found = advised(run, code)
            if found:
                stage.close()
                again = record(stage.again(), found[0])
                run["followed"] = {"start": start, "workers": found[0], "helps": helps,
                                   "predicted": found[1],
                                   "before": run["client"]["requests_per_second"],
                                   "met": again["client"]["requests_per_second"]}
            return run
        plant.__name__ = record.__name__
        case(f"{code} {first}", followed=True, **options)(plant)
        return record
    return add


@advice("apache-workers", 5, fast=True, maybe="sleep tail")
def following_advice_for_prefork(stage, workers):
    apache = stage.apache("prefork", mod_php=True, workers=workers)
    return stage.record(*stage.wrk(apache.page("nap.php", pages.NAP), 20))


@advice("apache-workers", 10, maybe="sleep tail")
def following_advice_for_event(stage, workers):
    """With kept connections, event serves those that it has before those that wait to be accepted:
    half of the requests do not wait then, and the simulation, whose queue is one, predicts nothing."""
    apache = stage.apache("event", fpm=stage.fpm(60, "pm = static"), workers=workers,
                          threads=workers)
    return stage.record(*stage.hey(apache.page("nap.php", pages.NAP), 40,
                                   "-disable-keepalive"))


@advice("php-workers", 3, fast=True, maybe="sleep tail")
def following_advice_for_static_php(stage, workers):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(workers, "pm = static"))
    return stage.record(*stage.wrk(apache.page("nap.php", pages.NAP), 24))


@advice("php-workers", DEBIAN_CHILDREN, maybe="sleep tail")
def following_advice_for_stock_php(stage, workers):
    """Of the two ways that the advice names for pm = dynamic, which starts a child a second here,
    this takes pm = static."""
    manager = DEBIAN_POOL if workers == DEBIAN_CHILDREN else "pm = static"
    apache = stage.apache("event", stock=True, fpm=stage.fpm(workers, manager))
    return stage.record(*stage.wrk(apache.page("nap.php", pages.NAP), 20))


@advice("php-workers", 3, helps=False, first="lock", maybe="tail sleep")
def following_advice_where_a_lock_is_serial(stage, workers):
    apache = stage.apache("event", stock=True, fpm=stage.fpm(workers, "pm = static"))
    apache.page("s.php", pages.session(stage.place("sessions"), 20))
    return stage.record(*stage.wrk("/s.php", 20))


@advice("php-workers", 2, maybe="sleep tail application-cpu cpu")
def following_advice_where_cpus_are_next(stage, workers):
    """A quarter of the page's time is of a CPU: the CPUs are full long before all have a worker."""
    apache = stage.apache("event", stock=True, fpm=stage.fpm(workers, "pm = static"))
    apache.page("mixed.php", pages.burn(5).replace("echo 'done'", "usleep(15000); echo 'done'"))
    return stage.record(*stage.wrk("/mixed.php", 40))


@advice("php-workers", 4, maybe="database tail")
def following_advice_with_a_database(stage, workers):
    server = stage.mariadb()
    apache = stage.apache("event", stock=True, fpm=stage.fpm(workers, "pm = static"))
    apache.page("q.php", pages.queries(server.port, "SELECT SLEEP(0.04)"))
    return stage.record(*stage.hey("/q.php", 20))
