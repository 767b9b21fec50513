--TEST--
On the command line nothing is recorded by default, and marks do nothing
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
$directory = boards();
$settings = ['mpmstat.enable_cli' => '0', 'mpmstat.board' => $directory];
echo run_php('mpmstat_mark("nowhere"); phpinfo(INFO_MODULES);', $settings, 'recording'), "\n";
var_dump(glob("$directory*"));
?>
--EXPECT--
recording => off
array(0) {
}
