"""Code that is slow: the verdict names the plugin's function, not the library that works for it."""
from judge import case

# What a plugin asks for is done by functions of the application that it extends.
CORE = """<?php
class wpdb {
    private $link;
    function __construct($port) { $this->link = new mysqli('127.0.0.1', 'root', '', '', $port); }
    function query($sql) { return $this->link->query($sql); }
}
function wp_remote_get($url) {
    $c = curl_init($url);
    curl_setopt($c, CURLOPT_RETURNTRANSFER, 1);
    return curl_exec($c);
}
function wp_kses($text, $times) {
    for ($i = 0; $i < $times; $i++) $text = md5($text);
    return $text;
}
"""
SITE = """<?php
require __DIR__ . '/wp-includes/core.php';
require __DIR__ . '/wp-content/plugins/seo/seo.php';
require __DIR__ . '/wp-content/plugins/weather/weather.php';
require __DIR__ . '/wp-content/plugins/related/related.php';
seo_title();
weather_today();
related_posts();
echo 'done';
"""


def site(stage, work, url, queries):
    """A page with three plugins: one computes, one asks a service, one the database."""
    port = stage.mariadb().port
    apache, _ = stage.roomy_php()
    apache.page("wp-includes/core.php", CORE)
    apache.page("wp-content/plugins/seo/seo.php",
                f"<?php function seo_title() {{ return wp_kses('a title', {work}); }}")
    apache.page("wp-content/plugins/weather/weather.php",
                f"<?php function weather_today() {{ return wp_remote_get('{url}'); }}")
    apache.page("wp-content/plugins/related/related.php", f"""<?php
class Related {{
    private $db;
    function __construct() {{ $this->db = new wpdb({port}); }}
    function score($post) {{ return $this->db->query("SELECT SLEEP(0.0002), $post"); }}
}}
function related_posts() {{
    $related = new Related;
    for ($i = 0; $i < {queries}; $i++) $related->score($i);
}}""")
    return apache.page("index.php", SITE)


@case("application-cpu", maybe="cpu database http", says="plugins/seo", place="seo_title")
def plugin_that_computes(stage):
    page = site(stage, 500000, stage.backend(0.001).url, 3)
    return stage.record(*stage.ab(page, 1, 60))


@case("http", maybe="application-cpu database", says="plugins/weather", place="weather_today",
      fast=True, light=True)
def plugin_that_asks_a_slow_service(stage):
    page = site(stage, 2000, stage.backend(0.15).url, 3)
    return stage.record(*stage.ab(page, 4, 80))


@case("database", maybe="application-cpu http", says="plugins/related", place="Related->score",
      light=True)
def plugin_with_300_queries(stage):
    page = site(stage, 2000, stage.backend(0.001).url, 300)
    return stage.record(*stage.ab(page, 2, 40))
