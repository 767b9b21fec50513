--TEST--
A number with K, M or G is in bounds or out of them as the whole of it is
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
function left_of(string $name, string $value): void
{
    $settings = ["mpmstat.$name" => $value, 'mpmstat.enable_cli' => '0'];
    echo "$name=$value: ", run_php("echo ini_get('mpmstat.$name');", $settings), "\n";
}

foreach (['workers_limit', 'processes', 'journal'] as $name)
    foreach (['2K', '1M', '17M', '1G', '-1K'] as $value)
        left_of($name, $value);
$settings = ['mpmstat.processes' => '128', 'mpmstat.journal' => '4K', 'mpmstat.board' => boards()];
echo run_php('phpinfo(INFO_MODULES);', $settings, 'room for'), "\n";
?>
--EXPECT--
workers_limit=2K: 2K
workers_limit=1M: 1M
workers_limit=17M: 0
workers_limit=1G: 0
workers_limit=-1K: 0
processes=2K: 2K
processes=1M: 1M
processes=17M: 1024
processes=1G: 1024
processes=-1K: 1024
journal=2K: 2K
journal=1M: 1M
journal=17M: 0
journal=1G: 0
journal=-1K: 0
room for => 128 processes, 8 labels, 4096 journal records
