--TEST--
mpmstat.profile disturbs no call: none ends early, and children of PHP's have no part in it
--EXTENSIONS--
mpmstat
pcntl
--FILE--
<?php
require __DIR__ . '/common.inc';

$code = <<<'PHP'
function work($ms) { $end = hrtime(true) + $ms * 1e6; while (hrtime(true) < $end); }
$pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$early = 0;
for ($i = 0; $i < 60; $i++) {
    work(4);
    $t = hrtime(true); usleep(2000);
    if (hrtime(true) - $t < 2e6) $early++;
    $r = [$pair[0]]; $w = $e = null;
    $t = hrtime(true); $n = stream_select($r, $w, $e, 0, 2000);
    if ($n !== 0 || hrtime(true) - $t < 2e6) $early++;
}
echo "early $early\n";
$pid = pcntl_fork();
work(60);
if ($pid == 0) pcntl_exec('/bin/false');
pcntl_waitpid($pid, $status);
echo 'child ended with ', pcntl_wexitstatus($status), "\n";
echo implode(' ', array_map(fn($f) => trim(file_get_contents($f)), glob('/proc/self/task/*/comm'))), "\n";
PHP;
foreach ([1, 100, 1000, 0] as $hz) {
    $output = run_php($code, ['mpmstat.board' => boards(), 'mpmstat.profile' => $hz]);
    echo "$hz Hz: ", strtr(trim($output), "\n", ' '), "\n";
}
?>
--EXPECTF--
1 Hz: early 0 child ended with 1 %s mpmstat
100 Hz: early 0 child ended with 1 %s mpmstat
1000 Hz: early 0 child ended with 1 %s mpmstat
0 Hz: early 0 child ended with 1 %s
