"""The documents: what they show is what happens, what they link to is there, and what they
say of the source is what the source says."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

import pytest

import build
import documents
import php
import tool
from apache import Apache

DOCUMENTS = documents.all_documents()
BLOCKS = [block for document in DOCUMENTS for block in documents.blocks(document)]
PROGRAMS = ("ab", "curl", "hey", "jq", "sqlite3", "xargs")
PICTURE_BYTES = 200_000


def name(document):
    return str(document.relative_to(build.SRCDIR))


def is_run(block):
    return block.language == "console" and not (block.mark and block.mark[0] == "not run")


SECTIONS = list(dict.fromkeys((block.document, block.section) for block in BLOCKS
                              if is_run(block)))


# ---- commands --------------------------------------------------------------------------------


@pytest.mark.skipif(not build.FPM or not build.MOD_PHP or php.why_not() is not None,
                    reason="needs PHP-FPM, mod_php and the extension")
@pytest.mark.alone
@pytest.mark.parametrize("document, section", SECTIONS,
                         ids=[f"{name(d)}: {s}" for d, s in SECTIONS])
def test_commands_do_what_is_shown(document, section, tmp_path):
    missing = [program for program in PROGRAMS if not build.find(program)]
    if missing:
        pytest.skip(f"the documents use {', '.join(missing)}")
    wanted = [b for b in BLOCKS if b.document == document and b.section == section]
    if not build.LAB and any("mpmstat lab" in block.text() for block in wanted):
        pytest.skip("built without the lab")
    complaints, excuses = documents.play(wanted, tmp_path / "scene")
    assert not complaints, "\n".join(complaints)
    if excuses:
        pytest.skip("other programs had the CPUs:\n" + "\n".join(excuses))


def test_what_is_not_printed_is_missed():
    output = "workers   9.26 busy in the mean, of 10: 9.24 handling\nApache's workers ran out."
    missed = documents.first_not_shown
    shown = ["workers 3.1 busy in the mean, [...]", "Apache's workers ran out:"]
    assert missed(shown, output) is None
    assert missed(["workers 3.1 idle in the mean"], output) is not None
    assert missed(["Apache's workers ran out", "workers 3.1 busy"], output) is not None
    assert missed(["PHP's workers ran out"], output) is not None
    assert missed(["9.26 busy in the mean, of ten"], output) is not None


def test_every_command_is_in_a_block_that_is_run():
    """Text with a prompt elsewhere is a command that nobody tries."""
    loose = [f"{name(document)}: {line}" for document in DOCUMENTS
             for line in re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
             .splitlines() if re.match(r" {4}\$ ", line)]
    assert not loose, loose
    other = [repr(b) for b in BLOCKS if b.language != "console"
             and any(line.startswith("$ ") for line in b.lines)]
    assert not other, other


# ---- configuration -----------------------------------------------------------------------------


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "apache"], ids=repr)
def test_configuration_of_apache_is_valid(block):
    text = block.text().replace("/usr/lib/apache2/modules/mod_mpmstat.so", str(build.MODULE))
    text = text.replace("/var/log/apache2/", "@ROOT@/")   # of the package apache2, which is not here
    mpm = block.mark[1].split()[0] if block.mark and block.mark[0] == "server" else "event"
    limits = "#" if block.mark else None
    apache = Apache(mpm, text, module="LoadModule mpmstat_module" not in text, limits=limits,
                    modules=["headers", "auth_basic", "authn_core", "authn_file", "authz_user"])
    try:
        status, said = apache.configtest()
    finally:
        apache.remove()
    assert status == 0 and "Syntax OK" in said, said


@pytest.mark.skipif(php.why_not() is not None or not php.CLI, reason="needs PHP's extension")
@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "ini" and not b.mark],
                         ids=repr)
def test_settings_of_php_are_valid(block, tmp_path):
    settings = dict(re.findall(r"^(\S+) = (\S+)", block.text(), re.M))
    settings.pop("extension", None)
    shown = php_settings({"extension": php.EXTENSION, **settings}, tmp_path)
    assert {key: shown.get(key, {}).get("local_value") for key in settings} == settings


def php_settings(settings, directory):
    """What PHP knows of the extension's settings."""
    php.write_ini(directory, settings)
    done = subprocess.run([php.CLI, "-n", "-c", directory / "php.ini", "-r",
                           "echo json_encode(ini_get_all('mpmstat'));"],
                          text=True, capture_output=True, timeout=30)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return json.loads(done.stdout)


# ---- the reference against the source ------------------------------------------------------------


def rows_of(reference, heading):
    """The table under a heading of the reference: Description, Syntax, ..."""
    text = (build.SRCDIR / "docs" / "reference" / reference).read_text()
    part = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert part, f"{reference} says nothing of {heading}"
    return dict(re.findall(r"^\| (\w+): \| (.*?) \|$", part[1], re.M))


def headings(reference):
    text = (build.SRCDIR / "docs" / "reference" / reference).read_text()
    return re.findall(r"^## (\S+)$", text, re.M)


# What is written where the syntax of a directive has this.
ARGUMENTS = {"On": "On", "path": "other.board", "number": "1024", "name": "blog",
             "directory": "php"}
PLACES = {"server config": "{}", "virtual host": "<VirtualHost *:1>\n{}\n</VirtualHost>",
          "directory": '<Directory "@ROOT@">\n{}\n</Directory>'}


def contexts_of(lines):
    """directive -> the contexts that httpd itself takes its line in, as httpd's documentation
    calls them."""
    found = {directive: [] for directive in lines}
    for place, text in PLACES.items():
        for directive, line in lines.items():
            apache = Apache("event", text.format(line))
            try:
                status, said = apache.configtest()
            finally:
                apache.remove()
            assert status == 0 or "not allowed" in said or "cannot occur within" in said, said
            if status == 0:
                found[directive].append(place)
    with Apache("event", '<Directory "@ROOT@">\nAllowOverride All\n</Directory>') as apache:
        apache.allow("not allowed here")
        for directive, line in lines.items():
            (apache.root / "htdocs" / directive).mkdir()
            apache.page(f"{directive}/.htaccess", line)
            status = apache.get(apache.page(f"{directive}/page.html", "there")).status
            assert status in (200, 500), (directive, status)
            if status == 200:
                found[directive].append(".htaccess")
    return found


def test_every_directive_is_in_the_reference():
    source = (build.SRCDIR / "mod_mpmstat" / "config.c").read_text()
    known = re.findall(r'AP_INIT_\w+\("(\w+)"', source)
    assert known and sorted(headings("directives.md")) == sorted(known)
    rows = {directive: rows_of("directives.md", directive) for directive in known}
    lines = {}
    for directive, row in rows.items():
        name_there, argument = re.fullmatch(r"`(\w+) (\w+)(?:\\\|Off)?(?:\\\|Parent)?`",
                                            row["Syntax"]).groups()
        assert name_there == directive
        lines[directive] = f"{directive} {ARGUMENTS[argument]}"
    for directive, contexts in contexts_of(lines).items():
        assert rows[directive]["Context"].split(", ") == contexts, directive
        assert ("Override" in rows[directive]) == (".htaccess" in contexts), directive


@pytest.mark.skipif(php.why_not() is not None or not php.CLI, reason="needs PHP's extension")
def test_every_setting_is_in_the_reference(tmp_path):
    known = php_settings({"extension": php.EXTENSION}, tmp_path)
    assert sorted(headings("php-settings.md")) == sorted(known)
    for setting, facts in known.items():
        rows = rows_of("php-settings.md", setting)
        default = f"`{setting} = {facts['global_value']}`" if facts["global_value"] else "empty"
        assert rows["Default"].startswith(default), setting
        assert (".htaccess" in rows["Context"]) == (facts["access"] == 6), setting
        said = (build.SRCDIR / "phpapp" / "ext" / "README.md").read_text()
        assert f"`{setting}`" in said or f"{setting} = " in said, setting


def test_every_load_tool_is_in_the_reference():
    said = tool.run("record", "--help").stdout
    names = re.search(r"It can read (.*?)\.\n", said, re.S)[1].split(", ")
    text = (build.SRCDIR / "docs" / "reference" / "loadtools.md").read_text().lower()
    assert len(names) >= 9 and all(f"| {name}" in text for name in names), names


def test_every_verb_is_in_the_reference():
    text = (build.SRCDIR / "docs" / "reference" / "cli.md").read_text()
    assert all(f"## mpmstat {verb}\n" in text for verb in tool.verbs())


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_verb_that_is_named_is_there(document):
    named = set(re.findall(r"`mpmstat ([a-z]\w*)\b", document.read_text()))
    assert named <= {*tool.verbs(), "help"}, named


def test_the_archive_has_the_columns_that_are_documented():
    text = (build.SRCDIR / "docs" / "reference" / "archive.md").read_text()
    documented = {title: re.findall(r"^\| `(\w+)` \|", body, re.M)
                  for title, body in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.M | re.S)}
    with sqlite3.connect(":memory:") as db:
        db.executescript((build.SRCDIR / "tools" / "archive" / "schema.sql").read_text())
        tables = [row[0] for row in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
        columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
                   for table in tables}
    assert {table: documented.get(table) for table in tables} == columns


def test_what_is_generated_is_current():
    done = subprocess.run([sys.executable, build.SRCDIR / "docs" / "generate", build.BUILDDIR,
                           "--check"], text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_version_is_the_same_everywhere():
    version = re.search(r"^AC_INIT\(\[mpmstat\], \[([\d.]+)\]\)",
                        (build.SRCDIR / "configure.ac").read_text(), re.M)[1]
    assert tool.run("--version").stdout.split()[1] == version
    assert (build.SRCDIR / "NEWS").read_text().startswith(f"mpmstat {version}\n")
    changelog = build.SRCDIR / "debian" / "changelog"
    if changelog.exists():
        assert re.match(rf"mpmstat \({re.escape(version)}[-~+)]", changelog.read_text())


# ---- links and pictures -----------------------------------------------------------------------


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S))


def anchors(document):
    """The anchors of its headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_links_lead_somewhere(document):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_code(document.read_text())):
        path, _, anchor = link.partition("#")
        if re.match(r"https?:", link):
            continue
        target = (document.parent / path).resolve() if path else document
        if not target.exists():
            broken.append(link)
        elif anchor and (target.suffix != ".md" or anchor not in anchors(target)):
            broken.append(link)
    assert not broken, broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_file_that_is_named_is_there(document):
    """A path in backquotes, from the top of the source. Capitals stand for a name to fill in."""
    named = re.findall(r"`((?:lib|mod_mpmstat|phpapp|tools|tests|docs|man)/[\w./*-]+)`",
                       document.read_text())
    missing = [path for path in named if not re.search(r"NAME|CASE", path)
               and not list(build.SRCDIR.glob(path))]
    assert not missing, missing


@pytest.mark.parametrize("picture", sorted((build.SRCDIR / "docs").rglob("*.png")), ids=name)
def test_pictures_are_pictures_and_small(picture):
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG\r\n") and len(data) < PICTURE_BYTES, len(data)


def test_documents_are_installed():
    """What is installed links only to what is installed too."""
    makefile = (build.SRCDIR / "docs" / "local.mk").read_text().replace("\\\n", " ")
    lists = {variable: re.search(rf"^{variable} = (.*)$", makefile, re.M)[1].split()
             for variable in ("dist_doc_DATA", "nobase_dist_doc_DATA", "documents",
                              "pictures")}
    installed = {path for paths in lists.values() for path in paths} - {"$(documents)",
                                                                        "$(pictures)"}
    documented = {name(d) for d in DOCUMENTS if name(d) == "README.md" or d.is_relative_to(
        build.SRCDIR / "docs")}
    documented |= {name(p) for p in (build.SRCDIR / "docs" / "images").glob("*.png")}
    assert documented <= installed, documented - installed
    for document in (build.SRCDIR / path for path in installed if path.endswith(".md")):
        links = re.findall(r"\]\(([^)\s#]+)", without_code(document.read_text()))
        linked = {os.path.relpath(document.parent / link, build.SRCDIR) for link in links
                  if not re.match(r"https?:", link)}
        assert linked <= installed, f"{name(document)}: {linked - installed}"


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_no_document_is_left_out_of_the_tests():
    listed = subprocess.run(["git", "-C", build.SRCDIR, "ls-files", "*.md"], text=True,
                            capture_output=True)
    if listed.returncode != 0:
        pytest.skip("not a checkout")
    listed = {path for path in listed.stdout.split() if not path.startswith("tests/")}
    assert listed <= {name(d) for d in DOCUMENTS}
