<?php
// install-wordpress.php - installs the WordPress in a directory without a browser, and
// fills it: 13 posts, the first by WordPress itself, 3 comments on each of the 12 others.
// Run by the script wordpress: php install-wordpress.php HTDOCS
declare(strict_types=1);

if (PHP_SAPI !== 'cli' || $argc !== 2) {
    exit(2);
}
$_SERVER['HTTP_HOST'] = 'localhost';
$_SERVER['REQUEST_METHOD'] = 'GET';
$_SERVER['REQUEST_URI'] = '/';
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
define('WP_INSTALLING', true);
require $argv[1] . '/wp-load.php';
require ABSPATH . 'wp-admin/includes/upgrade.php';

// Nobody is to be told by mail.
function wp_mail()
{
    return true;
}

function install_paragraph(int $number): string
{
    $sentences = [
        'The harbour was quiet when the first boats came in, and nobody had counted them.',
        "She said that it couldn't be done before noon -- and then did it in an hour.",
        'Three letters lay on the table, all of them unopened, the oldest from the spring.',
        'A "simple" repair takes as long as it takes; the clock in the hall had stopped twice.',
        'What remains is easily told: the road, the river, and the lamp in the window...',
    ];
    $text = '';
    for ($i = 0; $i < 4; $i++) {
        $text .= ($i ? ' ' : '') . $sentences[($number * 3 + $i * 2 + intdiv($number, 5)) % 5];
    }
    return "<!-- wp:paragraph -->\n<p>$text</p>\n<!-- /wp:paragraph -->";
}

function install_post(int $number): void
{
    $paragraphs = array_map('install_paragraph', range($number, $number + 4));
    $time = strtotime('2024-01-08 09:00:00 UTC') + $number * 9 * 86400;
    $id = wp_insert_post([
        'post_title' => "Notes from the harbour, part $number",
        'post_content' => implode("\n\n", $paragraphs),
        'post_status' => 'publish',
        'post_author' => 1,
        'post_date' => gmdate('Y-m-d H:i:s', $time),
        'tags_input' => ['harbour', $number % 2 ? 'boats' : 'letters'],
    ], true);
    if (is_wp_error($id)) {
        throw new RuntimeException($id->get_error_message());
    }
    for ($i = 1; $i <= 3; $i++) {
        wp_insert_comment([
            'comment_post_ID' => $id,
            'comment_author' => "Reader $i",
            'comment_author_email' => "reader$i@example.org",
            'comment_content' => "A comment, the {$i}th on part $number, long enough to wrap a line.",
            'comment_approved' => 1,
            'comment_date' => gmdate('Y-m-d H:i:s', $time + $i * 3600),
        ]);
    }
}

wp_install('The harbour', 'admin', 'admin@example.org', true, '', bin2hex(random_bytes(12)));
switch_theme('twentytwentyone');
for ($number = 1; $number <= 12; $number++) {
    install_post($number);
}
echo 'installed: ', wp_count_posts()->publish, " posts\n";
