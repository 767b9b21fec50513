--TEST--
Waits of a PHP with threads are not measured where its JIT can run, and phpinfo() says so
--EXTENSIONS--
mpmstat
--SKIPIF--
<?php
require __DIR__ . '/common.inc';
if (!PHP_ZTS)
    die('skip needs a PHP with threads');
if (run_php('echo (int)extension_loaded("Zend OPcache");', ['zend_extension' => 'opcache']) !== '1')
    echo 'skip needs OPcache';
?>
--FILE--
<?php
require __DIR__ . '/common.inc';
foreach ([['0', 'tracing'], ['16M', 'tracing'], ['16M', 'disable']] as [$buffer, $jit]) {
    $settings = ['zend_extension' => 'opcache', 'opcache.enable_cli' => '1', 'opcache.jit' => $jit,
                 'opcache.jit_buffer_size' => $buffer];
    say_waits("$jit, $buffer", waits_of('usleep(1000);', $settings));
    echo run_php('phpinfo(INFO_MODULES);', $settings, 'waits'), "\n";
}
?>
--EXPECT--
tracing, 0: sleep 1/0, right
no waits
tracing, 16M:, right
waits => not measured: the JIT of a PHP with threads has a buffer
disable, 16M: sleep 1/0, right
no waits
