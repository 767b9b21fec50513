"""Real WordPress on a MariaDB of its own: how much of its time is the database's. WordPress itself
is the witness, which notes each of its queries and how long it took."""
import json
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import build
import php
import processes
from php_site import MS, Site, check_sum, check_wait, needs_extension
from processes import wait_until
from recording import ask, record
from slow_services import Backend

pytestmark = pytest.mark.skipif(php.why_not_fpm() is not None, reason=str(php.why_not_fpm()))
SET_UP = build.SRCDIR / "phpapp" / "real" / "wordpress"
REQUESTS, AT_ONCE, HELD = 24, 4, 3

# What WordPress is told to note, and where its notes go.
PREPENDED = """<?php
define('SAVEQUERIES', true);
register_shutdown_function(function () {
    global $wpdb;
    file_put_contents('%s', json_encode(['queries' => count($wpdb->queries),
        'seconds' => array_sum(array_column($wpdb->queries, 1))]) . "\\n", FILE_APPEND | LOCK_EX);
});
"""
# The first line of the table's reader is printed when the table is locked; then a line is awaited.
HOLDER = ('$db = new mysqli("localhost", "root", "", "wordpress", 0, "%s"); '
          '$db->query("LOCK TABLES wp_options WRITE"); echo "held\\n"; fgets(STDIN); '
          f'sleep({HELD}); $db->query("UNLOCK TABLES");')
WAITING = ('$db = new mysqli("localhost", "root", "", "wordpress", 0, "%s"); '
           'echo $db->query("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE '
           "'Waiting for table%%'\")->fetch_row()[0];")


NEEDED = ("/usr/share/wordpress/wp-load.php", "/usr/sbin/mariadbd",
          "/var/lib/wordpress/wp-content/themes/twentytwentyone/style.css")


@pytest.fixture
def wordpress(as_root):
    needs_extension("mysqli")
    for path in NEEDED:
        if not Path(path).exists():
            pytest.skip(f"needs {path}")
    above = Path(tempfile.mkdtemp(prefix="mpmstat-test-wordpress-"))
    above.chmod(0o755)                              # for the servers' user
    directory = above / "site"
    done = subprocess.run([str(SET_UP), "up", str(directory)], text=True, capture_output=True,
                          timeout=300, check=False)
    try:
        assert done.returncode == 0, done.stdout + done.stderr
        yield directory
    finally:
        if directory.exists():
            subprocess.run([str(SET_UP), "down", str(directory)], check=True, capture_output=True,
                           timeout=120)
        shutil.rmtree(above)


def test_how_much_of_its_time_is_the_databases(wordpress):
    database = wordpress / "mariadb.sock"
    with Site(children=AT_ONCE, settings={"auto_prepend_file": "@ROOT@/prepended.php"}) as site:
        notes = site.fpm.root / "run" / "notes"
        (site.fpm.root / "prepended.php").write_text(PREPENDED % notes)

        def ask(_=None):
            status, body = php.fastcgi(
                site.fpm.socket, wordpress / "htdocs" / "index.php", HTTP_HOST="127.0.0.1",
                DOCUMENT_ROOT=str(wordpress / "htdocs"), REQUEST_URI="/", SCRIPT_NAME="/index.php")
            assert status == 200 and "</html>" in body, body[-500:]

        def noted():
            return [json.loads(line) for line in notes.read_text().splitlines()]

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(ask, range(REQUESTS)))
        records = site.records(REQUESTS)
        for record in records:
            check_sum(record)
        told = noted()
        assert len(told) == REQUESTS
        waited = sum(r["waits"]["database"] for r in records)
        slack = sum(r["user_ns"] + r["system_ns"] + (r["cpu_wait_ns"] or 0) for r in records)
        assert 0 < waited and waited + slack >= sum(note["seconds"] for note in told) * 1e9
        ends = site.ends()
        assert ends["mysql localhost"]["calls"] >= sum(note["queries"] for note in told)

        holder = subprocess.Popen([php.CLI, "-r", HOLDER % database], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said = holder.stdout.readline()
            assert said == "held\n", said + holder.communicate(timeout=60)[0]
            with ThreadPoolExecutor() as pool:
                answer = pool.submit(ask)
                wait_until(lambda: answer.done() or subprocess.run(
                    [php.CLI, "-r", WAITING % database], text=True, capture_output=True,
                    check=True).stdout == "1", 60, "WordPress to wait")
                holder.communicate("\n", timeout=60)
                answer.result(60)
        finally:
            processes.end(holder)
        locked = site.records(REQUESTS + 1)[-1]
        last = noted()[-1]["seconds"] * 1e9
    check_wait(locked, "database", last, locked["run_ns"])
    # How long it waits is the scheduler's; that both say the same is what counts. WordPress's clock
    # runs on while PHP has the answer and waits for a CPU.
    assert last >= 50 * MS
    apart, slack = last - locked["waits"]["database"], 0.05 * last + 10 * MS
    assert -slack <= apart <= slack + locked["cpu_wait_ns"], (locked, last)


# ---- which page is slow -------------------------------------------------------------------

# Pretty permalinks, as WordPress's own .htaccess has them, and a page with a plugin that is slow.
PERMALINKS = """RewriteEngine On
RewriteBase /
RewriteRule ^index\\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
"""
PLUGIN = """<?php
add_filter('pre_option_permalink_structure', function () { return '/%year%/%monthnum%/%postname%/'; });
add_action('template_redirect', function () {
    if (is_single() && strpos($_SERVER['REQUEST_URI'], 'part-7') !== false) {
        sleep(3);
    }
});
"""

def serve_wordpress(php_server, wordpress, boards, paths, plugin=PLUGIN):
    htdocs = wordpress / "htdocs"
    (htdocs / ".htaccess").write_text(PERMALINKS)
    (htdocs / "wp-content" / "mu-plugins").mkdir()
    (htdocs / "wp-content" / "mu-plugins" / "slow.php").write_text(plugin)
    return php_server(
        "event", f'DocumentRoot "{htdocs}"\n<Directory "{htdocs}">\nRequire all granted\n'
        f"AllowOverride All\nDirectoryIndex index.php\n</Directory>\nMPMStatPaths {paths}\n",
        modules=["rewrite"], workers=50, threads=25, children=3, settings=php.settings(boards))


def test_which_page_is_slow(wordpress, php_server, php_boards, archive, tmp_path):
    """All of them are /index.php. One of ten requests is for the page that sleeps."""
    apache = serve_wordpress(php_server, wordpress, php_boards, "On")
    found = re.findall(r'href="http://[^/"]+(/2024/\d\d/notes-from-the-harbour-part-\d+/)"',
                       apache.get("/").text())
    [slow] = {path for path in found if "part-7/" in path}
    quick = sorted(set(found) - {slow})[:5]
    urls = tmp_path / "urls"
    urls.write_text("".join(f"http://127.0.0.1:{apache.port}{path}\n"
                            for path in [slow, *quick, "/?s=harbour", "/nowhere/", "/"]))
    board = php.board(php_boards, "fpm-fcgi")
    summary, _ = record(apache, archive, build.find("h2load"), "--h1", "-n", "90", "-c", "9",
                        "-i", urls, options=("-t", str(board)))
    page = re.sub(r"/\d+/\d+/", "/{n}/{n}/", slow)
    assert_says(summary, page)
    [(label, route)] = ask(archive, "SELECT DISTINCT label, path FROM server_requests WHERE "
                           "handle_ns >= 3000000000 AND path LIKE '%-part-7/'")
    assert (label, route) == ("test.example", page)

    sent = json.loads(subprocess.run(
        [build.TOOL, "export", "-o", "-", "--slowest", "1", archive], text=True, check=True,
        capture_output=True, timeout=60).stdout)
    span = sent["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    attributes = {entry["key"]: entry["value"].get("stringValue") for entry in span["attributes"]}
    assert span["name"] == f"HTTP {page}"
    assert (attributes["http.route"], attributes["mpmstat.label"]) == (page, "test.example")

    explained = json.loads(subprocess.run(
        [build.TOOL, "explain", "--format", "json", apache.board, board], text=True, check=True,
        capture_output=True, timeout=60).stdout)
    assert_says(explained["past"], page)


def assert_says(summary, page):
    """The page with the most time, who held PHP's workers, whose the sleep is."""
    [apache] = [s for s in summary["servers"] if s["producer"] == "apache"]
    pages = {entry["path"]: entry for entry in apache["pages"]}
    assert apache["pages"][0]["path"] == page, apache["pages"]
    assert {page, "/", "(3xx or 4xx)"} <= set(pages), pages
    assert pages["(3xx or 4xx)"]["errors_4xx"] == pages["(3xx or 4xx)"]["requests"]
    assert sum(entry["requests"] for entry in apache["pages"]) == apache["requests"]
    findings = {f["code"]: f for f in summary["findings"]}
    assert findings["held-by"]["subject"] == page, findings
    assert findings["held-by"]["text"].startswith(f"Requests for {page} held "), findings
    # Where all workers of PHP slept at once, it stood still.
    assert re.search(rf" {re.escape(page)} has 100\.0 % of this wait|"
                     rf"requests \(all for {re.escape(page)}\) waited",
                     findings["sleep"]["text"]), findings


def test_without_the_directive_no_page_is_known(wordpress, php_server, php_boards, archive):
    apache = serve_wordpress(php_server, wordpress, php_boards, "Off")
    summary, _ = record(apache, archive, build.find("h2load"), "--h1", "-n", "6", "-c", "1",
                        f"http://127.0.0.1:{apache.port}/")
    assert summary["servers"][0]["pages"] is None
    for form in ("text", "html"):
        shown = subprocess.run([build.TOOL, "report", archive, "--format", form], text=True,
                               capture_output=True, check=True, timeout=60).stdout
        assert "MPMStatPaths On" in " ".join(shown.split()), form


# ---- which plugin is slow -----------------------------------------------------------------

# The request says which of them is active.
CHOOSER = """<?php
add_filter('pre_option_active_plugins', function () {
    return isset($_GET['with']) ? ["{$_GET['with']}/{$_GET['with']}.php"] : [];
});
"""
# Their code by name; each is slow by a function of WordPress or of PHP that it calls.
PLUGINS = {
    "seo": """<?php
/* Plugin Name: SEO */
function seo_keywords($text) {
    for ($i = 0; $i < 400000; $i++)
        $text = md5($text);
    return $text;
}
add_action('wp_head', function () { echo '<!-- ', seo_keywords(get_bloginfo('name')), ' -->'; });
""",
    "rates": """<?php
/* Plugin Name: Rates */
class Rates {
    public function today() {
        return wp_remote_retrieve_body(wp_remote_get('@SERVICE@'));
    }
}
add_action('wp', function () { define('RATES', (new Rates)->today()); });
""",
    "related": """<?php
/* Plugin Name: Related */
function related_score($i) {
    global $wpdb;
    return $wpdb->get_var("SELECT COUNT(*) FROM $wpdb->posts p JOIN $wpdb->comments c "
                          . "WHERE c.comment_content LIKE CONCAT('%', p.post_title, '$i%')");
}
add_action('wp_footer', function () { for ($i = 0; $i < 300; $i++) related_score($i); });
""",
}
# The finding's code, the function and its line.
NAMED = {
    "seo": ("application-cpu", "seo_keywords", 5),
    "rates": ("http", "Rates->today", 5),
    "related": ("database", "related_score", 5),
}


def test_which_plugin_is_slow(wordpress, php_server, php_boards, tmp_path):
    """One by its computing, one by a slow service, one by three hundred queries."""
    with Backend(0.2) as service:
        for name, text in PLUGINS.items():
            directory = wordpress / "htdocs" / "wp-content" / "plugins" / name
            directory.mkdir(parents=True)
            (directory / f"{name}.php").write_text(text.replace("@SERVICE@", service.url))
        apache = serve_wordpress(php_server, wordpress, php_boards, "On", CHOOSER)
        board = php.board(php_boards, "fpm-fcgi")
        for name, (code, function, line) in NAMED.items():
            apache.get(f"/?with={name}")
            summary, _ = record(apache, tmp_path / f"{name}.db", build.find("ab"), "-n", "12",
                                "-c", "1", f"http://127.0.0.1:{apache.port}/?with={name}",
                                options=("-t", str(board)))
            finding = next(f for f in summary["findings"] if f["code"] == code)
            place = finding["place"] or {}
            assert (place.get("function"), place.get("line")) == (function, line), finding
            assert place["file"].endswith(f"/plugins/{name}/{name}.php"), place
            assert place["component"] == f"plugins/{name}", place
            assert f" plugins/{name}." in finding["text"], finding
            assert f"Begin with {function}" in finding["action"], finding
