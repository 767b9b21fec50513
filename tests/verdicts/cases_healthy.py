"""Five stacks under six loads that they bear well: nothing is said but what the page itself
does."""
import pages
from judge import case

PAGE = ("<?php $end = hrtime(true) + 1e6; while (hrtime(true) < $end); usleep(12000); "
        "echo str_repeat('x', 4000);")


def event_and_fpm(stage):
    apache, _ = stage.stock_php()
    return apache.page("page.php", PAGE)


def worker_and_fpm(stage):
    apache, _ = stage.stock_php("worker")
    return apache.page("page.php", PAGE)


def prefork_and_mod_php(stage):
    return stage.apache("prefork", stock=True, mod_php=True).page("page.php", PAGE)


def event_and_files(stage):
    return stage.apache("event", stock=True).page("page.bin", bytes(20_000))


def event_and_backend(stage):
    backend = stage.backend(0.01)
    stage.apache("event", f'ProxyPass "/app" "{backend.url}"', stock=True,
                 modules=["proxy", "proxy_http"])
    return "/app"


STACKS = {event_and_fpm: "sleep", worker_and_fpm: "sleep", prefork_and_mod_php: "sleep",
          event_and_files: "nothing generator", event_and_backend: "backend"}
LOADS = {
    "one client at a time": lambda stage, path: stage.ab(path, 1, 150),
    "two clients": lambda stage, path: stage.ab(path, 2, 250),
    "two kept connections": lambda stage, path: stage.ab(path, 2, 250, "-k"),
    "forty requests a second": lambda stage, path: stage.hey(path, 2, rate=20),
    "new connections": lambda stage, path: stage.hey(path, 2, "-disable-keepalive", rate=20),
    "a loop of wrk": lambda stage, path: stage.wrk(path, 1),
}
# Of files a client without a pause takes as many as the CPUs let it.
PACED_LOADS = {
    f"{clients} clients with {rate} requests a second{each}":
        lambda stage, path, clients=clients, rate=rate, options=options:
        stage.hey(path, clients, *options, rate=rate)
    for clients, rate in ((1, 40), (4, 20), (10, 10))
    for each, options in (("", ()), (" and new connections", ("-disable-keepalive",)))
}


def healthy(stack, load, words):
    def plant(stage):
        return stage.record(*words(stage, stack(stage)))
    plant.__name__ = f"healthy_{stack.__name__}_{load.replace(' ', '_')}"
    case(f"nothing {STACKS[stack]}", maybe=f"application-cpu generator client-beyond-server tail "
         f"{STACKS[stack]}", never="cpu php-workers apache-workers php-spawning apache-spawning "
         "cold-start keepalive held-by stuck-requests lock cannot-tell", light=True)(plant)


for each_stack in STACKS:
    loads = PACED_LOADS if each_stack is event_and_files else LOADS
    for each_load, its_words in loads.items():
        healthy(each_stack, each_load, its_words)
