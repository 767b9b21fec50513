"""The workloads answer as they should on every stack: content, bounds, escaping, writes,
the same bytes each time, and a first set-up that many requests cannot disturb."""
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

import build
import fcgid
import php
from apache import Apache
from fpm import FPM
from nginx import Nginx

BLOG = "/wordpress-like/"
HOSTILE = "<script>alert('x')</script>\"><img src=x onerror=alert(1)> & \u00e4"
ITK = build.APACHE_MODULES / "mpm_itk.so"

# Pages and the digest that a stack first saw: the same on all others.
digests = {}


# ---- the stacks -------------------------------------------------------------------------

class Stack:
    """A server with the workloads, their data in `data`, and the FPM behind it, if any."""

    def __init__(self, name):
        self.name = name
        self.data = Path(tempfile.mkdtemp(prefix="mpmstat-test-data-", dir=scratch()))
        self.data.chmod(0o700)
        if os.geteuid() == 0:
            shutil.chown(self.data, "www-data", "www-data")
        self.fpm = FPM(4) if name in ("event+fpm", "nginx+fpm") else None
        self.server = None

    def make_server(self):
        lines = f'SetEnv MPMSTAT_WORKLOADS_DATA "{self.data}"\nDirectoryIndex index.php\n'
        if self.name == "nginx+fpm":
            return Nginx(self.fpm, {"MPMSTAT_WORKLOADS_DATA": self.data})
        if self.name == "event+fpm":
            return Apache("event", lines, php="fpm", fpm=self.fpm)
        if self.name == "worker+fcgid":
            return with_workloads(Apache("worker", lines + fcgid.fcgid(), modules=["fcgid"]))
        if self.name == "prefork+cgi":
            return with_workloads(Apache("prefork", lines + fcgid.cgi(),
                                         modules=["actions", "cgi"]))
        if self.name == "itk+mod_php":
            lines += f"LoadModule mpm_itk_module {ITK}\nAssignUserID www-data www-data\n"
        return Apache("prefork", lines, php="mod_php", workers=6)

    def __enter__(self):
        if self.fpm:
            self.fpm.__enter__()
        self.server = self.make_server()
        self.server.__enter__()
        return self

    def __exit__(self, *error):
        try:
            self.server.__exit__(*error)
        finally:
            if self.fpm:
                self.fpm.__exit__(None, None, None)
            shutil.rmtree(self.data, ignore_errors=True)

    def get(self, path, **options):
        return self.server.get(path, **options)

    def page(self, path):
        """The text of a page that is there."""
        response = self.get(path)
        assert response.status == 200, (path, response)
        return response.text()

    def refused(self, path, status=400):
        """The sentence with which a request is refused."""
        response = self.get(path)
        assert response.status == status, (path, response)
        assert response.headers["content-type"].startswith("text/plain"), (path, response)
        text = response.text()
        assert re.fullmatch(r"[A-Z].*\.\n", text), (path, text)
        return text

    def write(self, path, **fields):
        return self.get(path, method="POST", body=urlencode(fields).encode(),
                        headers={"Content-Type": "application/x-www-form-urlencoded"})


def scratch():
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def with_workloads(apache):
    shutil.copytree(build.WORKLOADS, apache.root / "htdocs", dirs_exist_ok=True)
    return apache


def why_not(name):
    """What this stack needs and is not there; None: it can be run."""
    needs = {"worker+fcgid": (fcgid.FCGID, "libapache2-mod-fcgid"),
             "itk+mod_php": (ITK, "libapache2-mpm-itk"),
             "prefork+cgi": (Path(php.CGI or "/nowhere"), "php-cgi"),
             "nginx+fpm": (Path(build.find("nginx") or "/nowhere"), "nginx")}
    if name == "itk+mod_php" and os.geteuid() != 0:
        return "needs root"
    path, package = needs.get(name, (Path("/"), ""))
    if name == "worker+fcgid" and not php.CGI:
        package, path = "php-cgi", Path("/nowhere")
    if "pdo_sqlite" not in subprocess.check_output([php.CLI, "-m"], text=True):
        return "needs php-sqlite3"
    return None if path.exists() else f"needs {package}"


STACKS = ["prefork+mod_php", "event+fpm", "worker+fcgid", "itk+mod_php", "prefork+cgi", "nginx+fpm"]


@pytest.fixture(scope="module", params=STACKS)
def stack(request):
    wanted = request.config.getoption("mpm")
    if wanted and request.param.split("+")[0] not in wanted:
        pytest.skip("another MPM was asked for")
    if build.SANITIZE and request.param != "event+fpm":
        pytest.skip("PHP's programs are not built with sanitizers")
    if why_not(request.param):
        pytest.skip(why_not(request.param))
    with Stack(request.param) as made:
        yield made
        if isinstance(made.server, Apache):
            complaints = made.server.log_lines(r"PHP (Warning|Notice|Deprecated|Fatal|Parse)")
            assert not complaints, complaints


@pytest.fixture(scope="module")
def fpm_stack():
    if why_not("event+fpm"):
        pytest.skip(why_not("event+fpm"))
    with Stack("event+fpm") as made:
        yield made


# ---- static, loop, sleep ---------------------------------------------------------------

def test_static(stack):
    response = stack.get("/static.html")
    assert response.status == 200 and len(response.body) == 10701
    assert response.headers["content-type"].startswith("text/html")


def test_loop(stack):
    response = stack.get("/loop.php?iterations=1000")
    assert response.status == 200 and response.headers["x-loop"] == \
        f"iterations=1000 result={pow(48271, 1000, 2**31 - 1)}"
    assert 50_000 < len(response.body) < 110_000 and "phpinfo()" in response.text()
    for wrong in ("iterations=-1", "iterations=1000000001", "iterations=", "iterations=1e3",
                  "iterations[]=1", "iteration=1"):
        stack.refused("/loop.php?" + wrong)


def test_sleep(stack):
    for right in ("spread=0", "spread=0.01", "spread=quarter"):
        assert stack.page("/sleep.php?seconds=0.01&" + right) == "OK"
    for wrong in ("seconds=61", "seconds=-1", "seconds=0.1234567", "spread=2", "spread=half",
                  "spread[]=quarter", "seconds=x", "x=1"):
        stack.refused("/sleep.php?" + wrong)


def test_lock(fpm_stack):
    """Three at once take as long as one after the other, by the server's own clock."""
    with ThreadPoolExecutor(3) as clients:
        began = time.monotonic()
        assert set(clients.map(lambda _: fpm_stack.page("/lock.php?seconds=0.1"), range(3))) == {"OK"}
        assert time.monotonic() - began >= 0.3
    for wrong in ("seconds=61", "seconds=-1", "spread=0"):
        fpm_stack.refused("/lock.php?" + wrong)


# ---- subrequest -------------------------------------------------------------------------

def test_subrequest(stack):
    for blocks, depth, work in ((0, 1, 0), (1, 1, 0), (7, 3, 12)):
        response = stack.get(f"/subrequest/?blocks={blocks}&depth={depth}&work={work}")
        assert response.status == 200
        assert response.headers["x-subrequest"] == f"passes={1 + blocks * depth}"
        text = response.text()
        assert text.count("<section") == text.count("</section>") == blocks * depth
        assert text.count("<li") == blocks * depth * min(work, 5)
        assert text.count(f"{work} entries") == (blocks * depth if work else 0)
    assert stack.page("/subrequest/").count("<section") == 50
    same_everywhere(stack, "/subrequest/?blocks=7&depth=3&work=12")


def test_subrequest_is_bounded(fpm_stack):
    for wrong in ("blocks=1001", "blocks=-1", "blocks=x", "depth=0", "depth=11", "work=10001",
                  "blocks=1000&depth=10&work=101", "block=1", "work[]=1", "work=1.5"):
        fpm_stack.refused("/subrequest/?" + wrong)


# ---- wordpress-like: first set-up ------------------------------------------------------------

def test_first_requests_do_not_race(stack):
    """Eight at once on an empty data directory: one builds, all get the same page."""
    shutil.rmtree(stack.data, ignore_errors=True)
    stack.data.mkdir(mode=0o700)
    if os.geteuid() == 0:
        shutil.chown(stack.data, "www-data", "www-data")
    with ThreadPoolExecutor(8) as clients:
        pages = list(clients.map(lambda _: stack.get(BLOG), range(8)))
    assert {p.status for p in pages} == {200}, pages
    assert len({p.body for p in pages}) == 1
    names = sorted(p.name for p in stack.data.iterdir())
    kinds = [re.sub(r"[0-9a-f]{16}", "X", name) for name in names
             if not name.endswith(("-wal", "-shm"))]
    assert kinds == ["blog-X.sqlite", "library-X", "lock"], names


# ---- wordpress-like: pages ----------------------------------------------------------------

class Tags(HTMLParser):
    """Elements that are opened and not closed, or the other way round."""

    VOID = {"meta", "link", "hr", "br", "img", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.names, self.attributes = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def well_formed(text):
    tags = Tags(text)
    assert not tags.wrong and not tags.open, (tags.wrong[:5], tags.open[:5])
    assert text.rstrip().endswith("</html>")
    return tags


def same_everywhere(stack, path):
    """The same bytes as on the stack that was asked first, and as a moment ago."""
    body = stack.get(path).body
    assert body == stack.get(path).body, path
    digest = hashlib.sha256(body).hexdigest()
    assert digests.setdefault(path, digest) == digest, (path, stack.name)


def test_blog_pages(stack):
    front = stack.page(BLOG)
    well_formed(front)
    assert front.count("<article") == 10 and 36_000 < len(front) < 56_000
    for widget in ("search", "recent-posts", "recent-comments", "archives", "terms", "authors"):
        assert f"widget-{widget}" in front
    links = re.findall(r'href="(/wordpress-like/\?(\w+)=\d+)"', front)
    one_of_each = {kind: link for link, kind in links}
    assert set(one_of_each) == {"p", "page_id", "cat", "tag", "author", "m", "paged"}
    for link in one_of_each.values():
        text = stack.page(link)
        well_formed(text)
        assert "<article" in text, link
        same_everywhere(stack, link)
    same_everywhere(stack, BLOG)


def test_blog_pagination(stack):
    seen = []
    for page in range(1, 5):
        found = re.findall(r'<article id="post-(\d+)"', stack.page(f"{BLOG}?paged={page}"))
        assert len(found) == 10
        seen += found
    assert len(set(seen)) == 40
    assert stack.get(f"{BLOG}?paged=5").status == 404


def test_blog_single_post(stack):
    post = re.search(r'<article id="post-(\d+)"', stack.page(f"{BLOG}?paged=2"))[1]
    text = stack.page(f"{BLOG}?p={post}")
    well_formed(text)
    assert text.count('<li id="comment-') == 3 and "3 comments" in text
    assert text.count("Previous:") == text.count("Next:") == 1
    assert "block:" not in text and "wl-" in text


def test_blog_search(stack):
    text = stack.page(f"{BLOG}?s=coal")
    well_formed(text)
    found = int(re.search(r"<p>(\d+) found", text)[1])
    assert 0 < found < 40 and text.count("<article") == min(found, 10)
    if found > 10:
        assert "?s=coal&amp;paged=2" in text
    assert "0 found" in stack.page(f"{BLOG}?s=" + quote("100%"))
    assert "40 found" in stack.page(f"{BLOG}?s=")


def test_blog_feed(stack):
    response = stack.get(f"{BLOG}?feed=rss2")
    assert response.headers["content-type"].startswith("application/rss+xml")
    channel = ElementTree.fromstring(response.body).find("channel")
    assert len(channel.findall("item")) == 10
    assert all(item.find("description").text for item in channel.findall("item"))


def test_blog_is_bounded(fpm_stack):
    for wrong in ("p=0", "p=-1", "p=x", "p=1.5", "p=99999999999", "p[]=1", "paged=0",
                  "paged=100001", "cat=x", "feed=atom", "feed[]=rss2", "m=1", "m=20220x",
                  "m=202200", "m=202213", "m=202299",
                  "s=" + "a" * 101, "s=%ff", "s=%00", "s[]=a", "p=1&s=a", "page=1", "author="):
        fpm_stack.refused(BLOG + "?" + wrong)
    for missing in ("p=999999", "p=1", "page_id=9", "cat=999", "tag=1", "author=99"):
        response = fpm_stack.get(f"{BLOG}?{missing}")
        assert response.status == 404, missing
        well_formed(response.text())
    assert fpm_stack.get(BLOG, method="PUT").status == 405


def test_blog_escapes_what_is_searched(fpm_stack):
    text = fpm_stack.page(f"{BLOG}?s=" + quote(HOSTILE))
    tags = well_formed(text)
    assert not tags.names & {"script", "img"} and "onerror" not in tags.attributes
    assert text.count("&lt;script&gt;") >= 2 and "\u00e4" in text


# ---- wordpress-like: comments ----------------------------------------------------------------

def post_id(stack, nth):
    return re.findall(r'<article id="post-(\d+)"', stack.page(f"{BLOG}?paged=4"))[nth]


def test_blog_takes_comments(stack):
    path = f"{BLOG}?p={post_id(stack, 0)}"
    response = stack.write(path, author=HOSTILE[:58], email="a@example.org",
                           text=HOSTILE + "\n\n' OR 1=1; -- http://example.org/x",
                           url="https://example.org/?a=1&b=2")
    assert response.status == 303, response
    where = response.headers["location"]
    assert re.fullmatch(rf"{re.escape(path)}#comment-\d+", where), where
    text = stack.page(path)
    tags = well_formed(text)
    assert not tags.names & {"script", "img"} and "onerror" not in tags.attributes
    assert text.count('<li id="comment-') == 4 and f'id="{where.split("#")[1]}"' in text
    assert '<a href="http://example.org/x" rel="nofollow ugc">' in text and "&lt;script&gt;" in text
    front = well_formed(stack.page(BLOG))
    assert "script" not in front.names and "onerror" not in front.attributes


def test_blog_refuses_comments(fpm_stack):
    path = f"{BLOG}?p={post_id(fpm_stack, 1)}"
    good = {"author": "a", "text": "t"}
    for wrong in ({"author": ""}, {"text": " "}, {"author": "a" * 61}, {"text": "t" * 4001},
                  {"author": "a\nb"}, {"text": "\0"}, {"email": "x"}, {"more": "x"},
                  {"url": "javascript:alert(1)"}, {"email[]": "a"}):
        wrong = {**good, **wrong}
        response = fpm_stack.write(path, **wrong)
        assert response.status == 400 and response.text().endswith(".\n"), (wrong, response)
    for place in (BLOG, f"{BLOG}?p=1", f"{BLOG}?p=999999", f"{BLOG}?s=a"):
        assert fpm_stack.write(place, author="a", text="t").status == 400, place
    assert fpm_stack.page(path).count('<li id="comment-') == 3


def test_comments_at_once_are_all_there(stack):
    path = f"{BLOG}?p={post_id(stack, 2)}"
    with ThreadPoolExecutor(6) as clients:
        done = list(clients.map(lambda n: stack.write(path, author=f"n{n}", text=f"written {n}"),
                                range(6)))
    assert [response.status for response in done] == [303] * 6
    text = stack.page(path)
    assert all(f"written {n}<" in text for n in range(6)) and "9 comments" in text


def test_only_the_newest_comments_stay(fpm_stack):
    path = f"{BLOG}?p={post_id(fpm_stack, 3)}"
    for n in range(53):
        assert fpm_stack.write(path, author="a", text=f"number {n} of them").status == 303
    text = fpm_stack.page(path)
    assert text.count('<li id="comment-') == 53 and "53 comments" in text
    assert "number 2 of" not in text and "number 3 of" in text and "number 52 of" in text


# ---- what holds for all of them ------------------------------------------------------------------

def test_other_files_answer_nothing(fpm_stack):
    """Parts of an application that are asked for by their own addresses."""
    entries = {"index.php", "lock.php", "loop.php", "sleep.php"}
    asked = [p.relative_to(build.WORKLOADS) for p in build.WORKLOADS.rglob("*.php")
             if p.name not in entries or p.parent.name == "theme"]
    assert len(asked) > 40
    for path in asked:
        response = fpm_stack.get(f"/{path}")
        assert response.status == 200 and response.body.strip() == b"", (path, response)


ENTRIES = ["lock.php", "loop.php", "sleep.php", "subrequest/index.php", "wordpress-like/index.php"]


@pytest.mark.parametrize("script", ENTRIES)
def test_only_on_loopback(fpm_stack, script):
    path = fpm_stack.server.root / "htdocs" / script

    def ask(**variables):
        return php.fastcgi(fpm_stack.fpm.socket, path, SCRIPT_NAME="/x",
                           MPMSTAT_WORKLOADS_DATA=str(fpm_stack.data),
                           QUERY_STRING={"sleep.php": "seconds=0"}.get(script, ""), **variables)

    assert ask()[0] == 200
    for server, client in (("192.0.2.1", "127.0.0.1"), ("127.0.0.1", "192.0.2.1"), ("", ""),
                           ("127.0.0.1.example", "127.0.0.1"), ("::2", "::1")):
        status, text = ask(SERVER_ADDR=server, REMOTE_ADDR=client)
        assert status == 403 and "MPMSTAT_WORKLOADS_ANYWHERE" in text, (server, client, text)
    assert ask(SERVER_ADDR="::1", REMOTE_ADDR="::ffff:127.0.0.1")[0] == 200
    assert ask(SERVER_ADDR="192.0.2.1", REMOTE_ADDR="192.0.2.2",
               MPMSTAT_WORKLOADS_ANYWHERE="1")[0] == 200


FORWARDED = {
    "HTTP_X_FORWARDED_FOR": (["127.0.0.1", "::1", "127.0.0.1:80, [::1]:80", "127.0.0.1,"],
                             ["192.0.2.1", "127.0.0.1, 192.0.2.1", "192.0.2.1, 127.0.0.1",
                              "2001:db8::1", "unknown", "127.0.0.1.example", "\xff"]),
    "HTTP_X_REAL_IP": (["127.0.0.1", "::1"], ["192.0.2.1", "[2001:db8::1]:80"]),
    "HTTP_FORWARDED": (["for=127.0.0.1;proto=http;host=localhost", 'For="[::1]:80"', "proto=http"],
                       ["for=192.0.2.1", "proto=http; For = 192.0.2.1", "for=unknown", "for=_x",
                        'for=127.0.0.1, for="[2001:db8::1]:80"', 'x=", for=192.0.2.1',
                        'for="127.0.0.1, for=192.0.2.1']),
}


@pytest.mark.parametrize("header", FORWARDED)
def test_a_proxy_on_this_machine_opens_it_to_nobody(fpm_stack, header):
    """The proxy's address is a loopback one; its client's can be any."""
    path = fpm_stack.server.root / "htdocs" / "sleep.php"

    def ask(value, **variables):
        return php.fastcgi(fpm_stack.fpm.socket, path, QUERY_STRING="seconds=0", **variables,
                           **{header: value})

    near, far = FORWARDED[header]
    for value in ["", *near]:
        assert ask(value)[0] == 200, value
    for value in far:
        status, text = ask(value)
        assert status == 403 and "MPMSTAT_WORKLOADS_ANYWHERE" in text, (value, text)
        assert ask(value, MPMSTAT_WORKLOADS_ANYWHERE="1")[0] == 200


def test_data_directory_must_be_safe(fpm_stack):
    root = fpm_stack.server.root              # where PHP can look
    script = root / "htdocs" / "wordpress-like" / "index.php"
    open_to_all, link, nowhere = root / "open", root / "link", root / "nowhere"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    link.symlink_to(fpm_stack.data)
    for directory in (open_to_all, link, nowhere, "relative", fpm_stack.data / "lock"):
        status, text = php.fastcgi(fpm_stack.fpm.socket, script, SCRIPT_NAME="/x",
                                   MPMSTAT_WORKLOADS_DATA=str(directory))
        assert status == 500 and "data directory should exist" in text, (directory, text)
    assert not list(open_to_all.iterdir())


def run_php(data, *arguments):
    """What PHP's command says, all of it, with that data directory."""
    return subprocess.run(
        [php.CLI, "-d", "error_reporting=-1", "-d", "display_errors=stderr", *arguments], cwd="/",
        env={"PATH": build.PATH, "MPMSTAT_WORKLOADS_DATA": str(data)}, timeout=60, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def test_all_of_the_library(fpm_stack, tmp_path):
    """Also what no page happens to use of it."""
    tmp_path.chmod(0o700)
    script = Path(__file__).with_name("all_of_the_library.php")
    assert run_php(tmp_path, str(script), str(build.WORKLOADS)) == "all of it\n"


def test_two_set_ups_are_the_same(fpm_stack, tmp_path):
    """The library and the blog's file, byte for byte."""
    trees = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir(mode=0o700)
        said = run_php(tmp_path / name, str(build.WORKLOADS / "wordpress-like" / "setup.php"))
        assert said.startswith("ready:"), said
        trees.append({str(p.relative_to(tmp_path / name)): p.read_bytes()
                      for p in (tmp_path / name).rglob("*") if p.is_file()})
    assert len(trees[0]) > 300 and trees[0] == trees[1]
