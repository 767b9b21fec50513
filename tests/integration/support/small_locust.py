"""As much of Locust as the fleet test's locustfile and mpmstat_rows.py take, where Locust is not
installed: one process of users, each a thread with a connection of its own, and no master.

    small_locust.py LOCUSTFILE,LOCUSTFILE USERS SECONDS

As with Locust's --stop-timeout, a request that is under way at the end is finished.
"""
import http.client
import importlib.util
import sys
import threading
import time
import types
from pathlib import Path

__version__ = "0.small"


class Event:
    def __init__(self):
        self.listeners = []

    def add_listener(self, listener):
        self.listeners.append(listener)

    def fire(self, **what):
        for listener in self.listeners:
            listener(**what)


events = types.SimpleNamespace(request=Event(), quit=Event())
reporting = threading.Lock()    # Locust's users are greenlets: their events never overlap


class Client:
    """A user's connection."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(*address.split(":"), timeout=60)

    def get(self, path, headers, context):
        began, clock = time.time(), time.perf_counter()
        response = exception = None
        try:
            self.connection.request("GET", path, headers=headers)
            response = self.connection.getresponse()
            response.read()
            response.status_code = response.status
        except (OSError, http.client.HTTPException) as error:
            exception = error
            self.connection.close()
        took = 1000 * (time.perf_counter() - clock)
        with reporting:
            events.request.fire(response_time=took, response=response, context=context,
                                exception=exception, start_time=began)


class HttpUser:
    def __init__(self):
        self.client = Client(self.host.removeprefix("http://"))


def task(function):
    function.is_task = True
    return function


def constant(seconds):
    return lambda user: seconds


def load(path):
    """As Locust does: a later file can import an earlier one."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(kind, until):
    user = kind()
    tasks = [member for member in vars(kind).values() if getattr(member, "is_task", False)]
    while time.monotonic() < until:
        for do in tasks:
            do(user)
        time.sleep(kind.wait_time(user))


def main(files, users, seconds):
    for path in files.split(","):
        load(path)
    until = time.monotonic() + float(seconds)
    [kind] = HttpUser.__subclasses__()
    threads = [threading.Thread(target=run, args=(kind, until)) for _ in range(int(users))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events.quit.fire(exit_code=0)


if __name__ == "__main__":
    sys.modules["locust"] = sys.modules[__name__]
    main(*sys.argv[1:])
