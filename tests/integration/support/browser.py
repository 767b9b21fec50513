"""A headless Chromium, driven over a pipe by its DevTools protocol.

    with Browser() as browser:
        page = browser.open(path, width=390, dark=True)
        assert page.complaints == []
        page.evaluate("document.title")

A page knows what the browser complained of (errors, warnings, a broken security
policy) and every URL that it asked for.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import build

CHROMIUM = next(filter(None, map(build.find, ("chromium", "chromium-browser", "google-chrome"))),
                None)


class Browser:
    def __init__(self):
        self.serial, self.pages, self.answers, self.buffer = 0, {}, {}, b""
        self.process = None

    def __enter__(self):
        assert CHROMIUM, "there is no chromium: apt-get install chromium"
        self.profile = tempfile.mkdtemp(prefix="mpmstat-test-chromium-")
        theirs_in, self.to = os.pipe()
        self.back, theirs_out = os.pipe()
        # Chromium reads requests from descriptor 3 and writes answers to 4.
        script = f'exec 3<&{theirs_in} 4>&{theirs_out}; exec "$@"'
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", script, "bash", CHROMIUM, "--headless", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
             "--disable-background-networking", "--no-first-run", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"PATH": build.PATH, "HOME": self.profile, "LANG": "C.UTF-8"})
        os.close(theirs_in)
        os.close(theirs_out)
        return self

    def __exit__(self, kind, error, traceback):
        os.close(self.to)          # Chromium ends with its pipe
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    # ---- the protocol: messages end with a NUL ------------------------------------------

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([self.back], [], [], max(0, left))
            chunk = os.read(self.back, 1 << 20) if ready else b""
            assert chunk, "Chromium " + ("ended" if ready else "did not answer in time")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def handle(self, message):
        if "id" in message:
            self.answers[message["id"]] = message
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].happened(message["method"], message["params"])

    def call(self, method, session=None, timeout=60, **parameters):
        self.serial += 1
        request = {"id": self.serial, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + timeout
        serial = self.serial
        while serial not in self.answers:
            self.handle(self.receive(deadline))
        answer = self.answers.pop(serial)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, place, **options):
        """A file's path, or a URL."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self.pages[session] = page
        page.load(place if "://" in str(place) else Path(place).resolve().as_uri(), **options)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session
        self.complaints, self.requests, self.loaded = [], [], False

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def happened(self, method, event):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description",
                                                                    details["text"]))
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning"):
            self.complaints.append(str(event["args"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])

    def load(self, url, width=1280, height=900, dark=False, scripts=True, timeout=60):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + timeout
        while not self.loaded:
            self.browser.handle(self.browser.receive(deadline))

    def evaluate(self, expression):
        """The value of a JavaScript expression; a promise's result is awaited."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, expression, timeout=30):
        """Until the expression is true; it is asked in the page, between two frames."""
        assert self.evaluate(f"""new Promise(done => {{
            const end = Date.now() + {timeout * 1000};
            const look = () => ({expression}) ? done(true)
                : Date.now() > end ? done(false) : setTimeout(look, 20);
            look();
        }})"""), f"not within {timeout} s: {expression}"

    def screenshot(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def pdf(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("Page.printToPDF")["data"]))


DRAWN = """
Array.from(document.querySelectorAll("figure canvas")).map(canvas => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4)
        if (pixels[i + 3] > 0) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
    return [canvas.getAttribute("aria-label"), colours.size];
})"""


def show(browser, path, width=1280, **options):
    """The page in a window as high as itself, so that all of it has come into view."""
    page = browser.open(path, width=width, height=30000, **options)
    page.wait("!document.querySelector('figure:not([data-drawn])')")
    return page


def assert_charts_are_drawn(browser, path, least, width, **options):
    """At least so many charts, none of them blank, each with a text for screen readers; the page
    asks for nothing but itself and is no wider than the window."""
    page = show(browser, path, width, **options)
    assert page.complaints == []
    assert page.requests == [path.as_uri()], "it asked for something"
    drawn = page.evaluate(DRAWN)
    assert len(drawn) >= least, drawn
    assert [label for label, colours in drawn if colours < 4] == [], "blank charts"
    assert all(label for label, _ in drawn), "a chart without a text for screen readers"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
