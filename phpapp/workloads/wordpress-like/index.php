<?php
// index.php - the front controller: every page of the blog is this script with another
// query string. Parameters: see parse_request() in src/request.php.
declare(strict_types=1);
require __DIR__ . '/../common.php';
require __DIR__ . '/src/boot.php';

workload_only_on_loopback();
boot();
$request = parse_request();
do_action('parse_request', $request);
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    receive_comment($request);
} else {
    respond($request);
}
