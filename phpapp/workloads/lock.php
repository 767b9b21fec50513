<?php
// lock.php - a page that does its work one request at a time: it takes a lock on a file, keeps it
// for `seconds` without CPU, then OK. All other requests wait for the lock, as with PHP's sessions
// on files of one user, or with a cache that is rebuilt under a lock.
// Parameters: seconds.
declare(strict_types=1);
require __DIR__ . '/common.php';

const LOCK_SECONDS     = 0.05;
const LOCK_SECONDS_MAX = 60.0;

workload_only_on_loopback();
workload_only_parameters('seconds');
$seconds = workload_number('seconds', LOCK_SECONDS, 0, LOCK_SECONDS_MAX, 6);

$lock = @fopen(workload_data_directory() . '/lock.php.lock', 'c');
if (!$lock || !flock($lock, LOCK_EX)) {
    workload_refuse(500, 'The workloads\' data directory should be writable for the user that PHP runs '
        . 'as: this workload could not make its lock file there.');
}
workload_wait_until(hrtime(true) + (int)round($seconds * 1e9));
flock($lock, LOCK_UN);

header('Content-Type: text/plain; charset=utf-8');
echo 'OK';
