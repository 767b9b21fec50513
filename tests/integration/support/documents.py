"""The documents' commands: taken from them, and run on servers of their own.

What a document shows is marked so that everybody who reads its source sees it:

    ```console                a session: `$ ` begins a command, the rest is what it prints.
    ```apache, ```ini         a piece of Apache's or PHP's configuration: it is checked.
    <!-- server: event -->    before a piece of Apache's: the sessions below, to the end of the
                              section (##), run on such a server; `prefork mod_php` is another.
    <!-- php: fpm -->         before a piece of PHP's: PHP-FPM's pool has it there, php.ini what
                              begins with `mpmstat.`.
    <!-- not run: REASON -->  before a session that no test can run.

Of what a command prints a document may show parts: [...] stands for what it leaves out, and
numbers are another each time. Every line that is shown has to be in the output, in that order.
"""
import re
import shutil
import subprocess
from pathlib import Path

import build
import php
from apache import Apache
from fpm import FPM

FENCE = re.compile(r"^( *)```(\w*)$")
MARK = re.compile(r"^<!-- (server|php|not run): (.+?) -->$")
NUMBER = re.compile(r"""
    (?<![\w.])
    (?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d|\ UTC)?       # a moment
      | [-+<~]?\ ?\d[\d.,]*(?:\ ?(?:ns|us|ms|s|min|h|B|kB|MB|GB|KiB|MiB|GiB|%))?)
    (?!\w)""", re.VERBOSE)

# Where a section shows no others: room in Apache for what it loads, and Debian's own pool.
DEFAULT_APACHE = "MaxRequestWorkers 50\nThreadsPerChild 25\nStartServers 2\n"
DEFAULT_POOL = """\
pm = dynamic
pm.max_children = 5
pm.start_servers = 2
pm.min_spare_servers = 1
pm.max_spare_servers = 3
"""
FPM_BOARD = "fpm-fcgi-etc-php-8.2-fpm-php-fpm.conf.board"


class Block:
    """A fenced block: its language, lines, section, and the mark before it."""

    def __init__(self, document, number, section, language, mark, lines):
        self.document, self.number, self.section = document, number, section
        self.language, self.mark, self.lines = language, mark, lines

    def __repr__(self):
        return f"{self.document.name}:{self.number}"

    def text(self):
        return "\n".join(self.lines) + "\n"

    def sessions(self):
        """(command, lines shown) of each command in it."""
        found = []
        for line in self.lines:
            if line.startswith("$ "):
                found.append([line[2:], []])
            elif found and not found[-1][1] and found[-1][0].endswith("\\"):
                found[-1][0] += "\n" + line
            elif found:
                found[-1][1].append(line)
            else:
                raise AssertionError(f"{self!r}: output before the first command: {line!r}")
        return found


def all_documents():
    """Every document of the source, the licence's and the tests' own inputs aside."""
    found = [build.SRCDIR / "README.md"]
    for directory in ("contrib", "docs", "phpapp", "tools"):
        found += sorted((build.SRCDIR / directory).rglob("*.md"))
    return found


def blocks(document):
    """Its fenced blocks, in order. A section begins with a heading of the first two levels."""
    found, section, mark, fence = [], "", None, None
    for number, line in enumerate(document.read_text().splitlines(), 1):
        begin = FENCE.match(line)
        if fence is not None:
            if begin and not begin[2]:
                found.append(fence)
                fence, mark = None, None
            else:
                fence.lines.append(line)
        elif begin:
            fence = Block(document, number, section, begin[2], mark, [])
        elif line.startswith(("# ", "## ")):
            section = line.lstrip("# ")
        elif MARK.match(line):
            mark = MARK.match(line).groups()
        elif line.strip():
            mark = None
    assert fence is None, f"{document}: the block at line {fence.number} has no end"
    return found


# ---- what is shown against what is printed -----------------------------------------------


def words(text):
    """What two runs have in common: numbers are N; bars, and signs behind words, are nothing."""
    bare = (word.rstrip(".,;:") for word in NUMBER.sub(" N ", text).split())
    return [word for word in bare if not re.fullmatch(r"#*|[-=]+", word)]


def first_not_shown(shown, output):
    """The first line of `shown` that is not in `output`, behind the one before; or None."""
    there, at = words(output), 0
    for line in shown:
        for part in line.split("[...]"):
            wanted = words(part)
            if not wanted:
                continue
            while at + len(wanted) <= len(there) and there[at:at + len(wanted)] != wanted:
                at += 1
            if at + len(wanted) > len(there):
                return line
            at += len(wanted)
    return None


# ---- running them -----------------------------------------------------------------------------


class Scene:
    """The servers and the working directory of one section's sessions."""

    def __init__(self, directory):
        self.directory = directory
        self.apache_mark, self.apache_text = "event", DEFAULT_APACHE
        self.pool_text = DEFAULT_POOL
        self.apache = self.fpm = None
        self.bin = directory / "bin"
        self.bin.mkdir()
        (self.bin / "mpmstat").symlink_to(build.TOOL)
        (directory / "run").mkdir()

    def configure(self, block):
        self.stop()
        if block.mark[0] == "server":
            self.apache_mark, self.apache_text = block.mark[1], block.text()
        else:
            self.pool_text = block.text()

    def start(self):
        mpm, *handler = self.apache_mark.split()
        if handler == ["mod_php"]:
            ini = php.write_ini(self.directory, php.settings(self.boards()))
            self.apache = Apache(mpm, f'PHPINIDir "{ini}"\nMPMStatPHPBoards "{self.boards()}"\n',
                                 php="mod_php", limits=self.apache_text)
        else:
            self.start_fpm()
            self.apache = Apache(mpm, f'MPMStatPHPBoards "{self.boards()}"\n', php="fpm",
                                 fpm=self.fpm, limits=self.apache_text)
        self.apache.__enter__()
        for name, place in (("apache2", self.apache.root / "run"), ("mpmstat", self.boards())):
            (self.directory / "run" / name).symlink_to(place)
        self.make_commands()

    def start_fpm(self):
        lines = self.pool_text.splitlines()
        ours = dict(re.findall(r"^mpmstat\.(\w+) = (\S+)$", self.pool_text, re.M))
        settings = php.settings("@ROOT@", board=f"@ROOT@/run/{FPM_BOARD}", **ours)
        pool = [line for line in lines if not line.startswith(("mpmstat.", "pm.max_children"))]
        children = re.search(r"^pm.max_children = (\d+)$", self.pool_text, re.M)[1]
        self.fpm = FPM(children, settings=settings, manager="", pool="\n".join(pool))
        self.fpm.__enter__()

    def boards(self):
        """Where PHP's boards are."""
        if self.fpm:
            return self.fpm.root / "run"
        directory = self.directory / "boards"
        directory.mkdir(exist_ok=True)
        return directory

    def make_commands(self):
        """apache2ctl and systemctl, which here mean the scene's own servers."""
        httpd = " ".join(self.apache.command())
        fpm = self.fpm.pid if self.fpm else 0
        scripts = {
            "apache2ctl": 'case $1 in configtest) set -- -t ;; graceful) set -- -k graceful ;; '
                          f'esac\nexec {httpd} "$@"\n',
            "systemctl": f'case "$*" in "reload apache2") exec {httpd} -k graceful ;;\n'
                         f'"reload php"*-fpm) exec kill -USR2 {fpm} ;; esac\nexit 1\n'}
        for name, text in scripts.items():
            (self.bin / name).write_text("#!/bin/sh\n" + text)
            (self.bin / name).chmod(0o755)

    def places(self):
        """(in the documents, here) of whatever has another name in the test. Those of the
        boards are no longer here than there: the tool breaks long lines."""
        return [("http://localhost", f"http://127.0.0.1:{self.apache.port}"),
                ("localhost/", f"127.0.0.1:{self.apache.port}/"),
                ("www.example.org", "test.example"),
                ("/run/apache2", "run/apache2"), ("/run/mpmstat", "run/mpmstat"),
                ("/var/www/html", str(self.apache.root / "htdocs")),
                ("/usr/share/mpmstat/workloads", str(build.WORKLOADS))]

    def run(self, command):
        """(exit status, what it printed, with the documents' names of places)."""
        if self.apache is None:
            self.start()
        for theirs, ours in self.places():
            command = command.replace(theirs, ours)
        environment = {"LANG": "C.UTF-8", "TERM": "dumb", "PATH": f"{self.bin}:{build.PATH}",
                       "HOME": str(self.directory), "MPMSTAT_RUNDIR": "run/apache2:run/mpmstat"}
        done = subprocess.run(["bash", "-c", command], cwd=self.directory, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=180)
        output = done.stdout.replace(str(self.apache.root / "run"), "/run/apache2").replace(
            str(self.boards()), "/run/mpmstat")
        if self.fpm:
            output = output.replace(str(self.fpm.root / "fpm.conf"),
                                    "/etc/php/8.2/fpm/pool.d/www.conf")
            output = re.sub(rf"unix:{re.escape(str(self.fpm.socket))}\|fcgi://(localhost)?",
                            "unix:/run/php/php-fpm.sock|fcgi://localhost", output)
        for theirs, ours in self.places():
            output = re.sub(rf"(?<![\w/]){re.escape(ours)}", lambda match: theirs, output)
        return done.returncode, output

    def stop(self):
        apache, fpm, self.apache, self.fpm = self.apache, self.fpm, None, None
        for place in (self.directory / "run").iterdir():
            place.unlink()
        for server in (apache, fpm):
            if server:
                server.__exit__(None, None, None)


# What mpmstat says of a machine whose CPUs others want: nothing measured there is as shown.
OTHERS_WERE_BUSY = re.compile("mostly with other programs|busy before the load began")


def play(section_blocks, directory, say=lambda text: None):
    """Runs a section's sessions. Returns (complaints, excuses): what is not as the document
    shows it; and what cannot be, since other programs had the machine."""
    directory.mkdir(exist_ok=True)
    scene, complaints, excuses, others = Scene(directory), [], [], False
    try:
        for block in section_blocks:
            if block.mark and block.mark[0] in ("server", "php"):
                scene.configure(block)
            if block.language != "console" or (block.mark and block.mark[0] == "not run"):
                continue
            for command, shown in block.sessions():
                status, output = scene.run(command)
                say(f"$ {command}\n{output}")
                missing = first_not_shown(shown, output)
                others = others or bool(OTHERS_WERE_BUSY.search(output))
                if status != 0:
                    complaints.append(f"{block!r}: exit status {status}: {command}\n{output}")
                elif missing is not None:
                    found = excuses if others else complaints
                    found.append(f"{block!r}: it shows\n{missing}\nand {command}\n"
                                 f"prints\n{output}")
    finally:
        scene.stop()
        shutil.rmtree(directory, ignore_errors=True)
    return complaints, excuses


if __name__ == "__main__":        # shows what the commands of a document print, to be put there
    import sys
    import tempfile

    for name in sys.argv[1:2]:
        path, wanted = Path(name).resolve(), sys.argv[2:]
        shown = blocks(path)
        for title in dict.fromkeys(block.section for block in shown):
            if wanted and not any(word in title for word in wanted):
                continue
            print(f"==== {title}", flush=True)
            complaints, excuses = play([b for b in shown if b.section == title],
                                       Path(tempfile.mkdtemp()), print)
            print("".join(f"!!!! {text}\n" for text in complaints + excuses))
