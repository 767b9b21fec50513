"""What the live page asks of a browser: 10,000 workers, all there, while somebody scrolls.

The page and a snapshot are a real board's. Its workers are multiplied, and a tenth of them
change their state from look to look. Chromium has no GPU here and shares the machine's CPUs with
the rest, so besides the frames' rhythm the bench shows what they cost its main thread.
"""
import itertools
import json
import re
import statistics
import sys
import time
from pathlib import Path

import measure

sys.path.insert(0, str(Path(measure.__file__).parents[1] / "integration" / "support"))
from apache import Apache, limits_of  # noqa: E402
from browser import Browser  # noqa: E402
from urls import Server, reply  # noqa: E402

WORKERS, THREADS = 10_000, 25
LOOKS = 4
FRAMES = 600                 # ten seconds at 60 a second
MAY_TAKE_MS = 1000 / 60

SCROLL = f"""new Promise(done => {{
    const times = [], end = document.documentElement.scrollHeight - innerHeight;
    let down = 40;
    const step = now => {{
        times.push(now);
        if (scrollY + down > end || scrollY + down < 0) down = -down;
        scrollBy(0, down);
        if (times.length < {FRAMES}) requestAnimationFrame(step); else done(times);
    }};
    requestAnimationFrame(step);
}})"""


def page_and_board():
    """The page's HTML, and its snapshot."""
    with_limits = dict(limits=limits_of("event", 50, THREADS, 2), workers=50, threads=THREADS)
    with Apache("event", **with_limits) as server:
        for _ in range(50):
            assert server.get("/index.html").status == 200
        return (server.get("/mpm-status?format=html").body.decode(),
                json.loads(server.get("/mpm-status?format=json").body))


def snapshots(snapshot):
    """A few, of many workers, as JSON."""
    board = snapshot["boards"][0]
    some = [slot for slot in board["slots"] if slot["state"] is not None]
    made = []
    for look in range(LOOKS):
        slots = []
        for number in range(WORKERS):
            slot = dict(some[number % len(some)])
            busy = (number + look) % 10 == 0
            slot.update(slot=number, pid=1000 + number // THREADS,
                        state="handling" if busy else "idle",
                        state_for_seconds=look * 2 + number / WORKERS)
            slots.append(slot)
        board["slots"] = slots
        made.append(json.dumps(snapshot).encode())
    return made


def metrics(page):
    found = page.call("Performance.getMetrics")["metrics"]
    return {metric["name"]: metric["value"] for metric in found}


def run():
    measure.progress(f"live page, {WORKERS} workers")
    html, snapshot = page_and_board()
    looks = snapshots(snapshot)
    html = re.sub(r'(<script[^>]*id="data"[^>]*>).*?(</script>)',
                  lambda found: found[1] + looks[0].decode() + found[2], html, flags=re.S)
    turn = itertools.cycle(looks)

    def answer(handler):
        if "format=json" in handler.path:
            reply(handler, next(turn))
        elif "format=journal" in handler.path:
            reply(handler, b"later", "text/plain", 503)
        else:
            reply(handler, html.encode(), "text/html; charset=utf-8")

    with Server(answer) as server, Browser() as browser:
        page = browser.open(server.url)
        page.call("Performance.enable", timeDomain="threadTicks")
        page.wait("document.querySelectorAll('.process i').length > 0")
        time.sleep(3)                               # the first looks
        before, asked = metrics(page), len(server.asked)
        times = page.evaluate(SCROLL)
        after = metrics(page)
        looked = len(server.asked) - asked
    between = sorted(b - a for a, b in zip(times, times[1:]))
    cost = (after["TaskDuration"] - before["TaskDuration"]) * 1000 / FRAMES
    measure.table(
        f"The live page of {WORKERS:,} workers, {FRAMES} frames of scrolling, {looked} looks",
        ["", "ms"],
        [["between two frames, median", f"{statistics.median(between):.1f}"],
         ["between two frames, 99 %", f"{between[len(between) * 99 // 100]:.1f}"],
         ["between two frames, longest", f"{between[-1]:.1f}"],
         ["CPU time of the main thread a frame", f"{cost:.2f}"]])
    if cost > MAY_TAKE_MS:
        raise SystemExit(f"a frame takes {cost:.1f} ms of the main thread, not {MAY_TAKE_MS:.1f}")


if __name__ == "__main__":
    run()
