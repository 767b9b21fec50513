--TEST--
What OPcache preloads as PHP starts is no request of the command line's
--EXTENSIONS--
mpmstat
--SKIPIF--
<?php
require __DIR__ . '/common.inc';
$settings = ['zend_extension' => 'opcache', 'mpmstat.enable_cli' => '0'];
if (run_php('echo (int)extension_loaded("Zend OPcache");', $settings) !== '1')
    echo 'skip needs OPcache';
?>
--FILE--
<?php
require __DIR__ . '/common.inc';
$directory = boards();
file_put_contents("{$directory}preload.php",
                  '<?php function preloaded() { return "preloaded\n"; }');
$settings = ['zend_extension' => 'opcache', 'opcache.enable_cli' => '1',
             'opcache.preload' => "{$directory}preload.php",
             'opcache.preload_user' => get_current_user(), 'mpmstat.board' => $directory];
for ($i = 0; $i < 3; $i++)
    echo run_php('echo preloaded();', $settings);
$board = board($directory);
$label = array_column($board->labels, null, 'label')['default'];
echo "$label->requests requests of {$board->lifecycle->forks->php} processes\n";
?>
--EXPECT--
preloaded
preloaded
preloaded
3 requests of 3 processes
