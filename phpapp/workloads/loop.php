<?php
// loop.php - a CPU-bound page: a loop of fixed work, then phpinfo(), about 70 KB.
// Parameter: iterations. From a shell: php loop.php MILLISECONDS calibrates it.
declare(strict_types=1);
require __DIR__ . '/common.php';

const LOOP_ITERATIONS     = 500_000;
const LOOP_ITERATIONS_MAX = 1_000_000_000;

// Integer arithmetic and nothing else: no memory, no call, the same result
// everywhere. (The generator is MINSTD's: x = 48271 x mod 2^31 - 1.)
function loop(int $iterations): int
{
    for ($x = 1; $iterations > 0; $iterations--) {
        $x = $x * 48271 % 2147483647;
    }
    return $x;
}

// How many iterations take $milliseconds here: the fastest of several tries,
// since whatever else the machine does can only make one slower.
function loop_calibrate(float $milliseconds): int
{
    $tried = 2_000_000;
    $fastest_ns = INF;
    for ($i = 0; $i < 10; $i++) {
        $start = hrtime(true);
        loop($tried);
        $fastest_ns = min($fastest_ns, hrtime(true) - $start);
    }
    return (int)round($tried * $milliseconds * 1e6 / $fastest_ns);
}

if (PHP_SAPI === 'cli') {
    $milliseconds = filter_var($argv[1] ?? '', FILTER_VALIDATE_FLOAT);
    if ($argc !== 2 || $milliseconds === false || $milliseconds <= 0 || $milliseconds > 10_000) {
        fwrite(STDERR, "usage: php loop.php MILLISECONDS (above 0, at most 10000)\n"
            . "prints how many iterations take so long here\n");
        exit(2);
    }
    echo 'iterations=', loop_calibrate($milliseconds), "\n";
    exit;
}

workload_only_on_loopback();
workload_only_parameters('iterations');
$iterations = (int)workload_number('iterations', LOOP_ITERATIONS, 0, LOOP_ITERATIONS_MAX, 0);
header('X-Loop: iterations=' . $iterations . ' result=' . loop($iterations));
phpinfo();
