<?php
// sleep.php - a page that waits as if for a database: seconds ± spread, uniformly
// distributed, then OK. It holds a worker and uses no CPU.
// Parameters: seconds, spread.
declare(strict_types=1);
require __DIR__ . '/common.php';

const SLEEP_SECONDS     = 1.0;
const SLEEP_SECONDS_MAX = 60.0;

$start_ns = hrtime(true);
workload_only_on_loopback();
workload_only_parameters('seconds', 'spread');
$seconds = workload_number('seconds', SLEEP_SECONDS, 0, SLEEP_SECONDS_MAX, 6);
$spread = ($_GET['spread'] ?? 'quarter') === 'quarter'
    ? $seconds / 4 : workload_number('spread', 0, 0, $seconds, 6);

// In whole microseconds, so that both ends are as likely as what is between.
$spread_us = (int)round($spread * 1e6);
$duration_us = (int)round($seconds * 1e6) + mt_rand(-$spread_us, $spread_us);
workload_wait_until($start_ns + $duration_us * 1000);

header('Content-Type: text/plain; charset=utf-8');
echo 'OK';
