--TEST--
Waits: calls of every sort count once, whatever way they are called and end
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
say_waits('direct', waits_of('usleep(20000); sleep(0);'), 20);
say_waits('none', waits_of('strlen("x");'));
say_waits('by name', waits_of('$f = "usleep"; $f(20000); call_user_func($f, 1000); '
    . 'call_user_func_array($f, [1000]); (new ReflectionFunction($f))->invoke(1000);'), 23);
say_waits('as a callback', waits_of('array_map("usleep", [10000, 10000]);'), 20);
say_waits('as a closure', waits_of('$f = Closure::fromCallable("usleep"); $f(20000); $f(1000);'), 21);
say_waits('in a loop', waits_of('for ($i = 0; $i < 1000; $i++) usleep(10);'), 10);
say_waits('a method', waits_of('$f = new SplFileObject("/dev/null", "r"); $f->flock(LOCK_SH);'));
say_waits('an inherited method', waits_of('class A extends SplTempFileObject {} class B extends A {}
    $f = new B; try { $f->flock(LOCK_SH); } catch (Error $e) {}'));
say_waits('an exception', waits_of('declare(strict_types=1);
    try { usleep("x"); } catch (TypeError $e) {}'));
say_waits('a false result', waits_of('@file_get_contents("/nonexistent/file");'));
say_waits('exit', waits_of('usleep(20000); exit;'), 20);
say_waits('in a shutdown function', waits_of('register_shutdown_function("usleep", 20000); exit;'), 20);
say_waits('in a destructor', waits_of(
    'class A { function __destruct() { usleep(20000); } } $a = new A;'), 20);
say_waits('after a fatal error', waits_of(
    'register_shutdown_function("usleep", 20000); no_such_function();'), 20);

$handler = 'class H implements SessionHandlerInterface {
    function open($p, $n): bool { usleep(10000); return true; }
    function close(): bool { return true; }
    #[ReturnTypeWillChange]
    function read($i) { usleep(10000); %s return ""; }
    function write($i, $d): bool { usleep(10000); return true; }
    function destroy($i): bool { return true; }
    #[ReturnTypeWillChange]
    function gc($l) { return 0; }
} session_set_save_handler(new H, false); ini_set("session.use_cookies", 0);
ini_set("session.cache_limiter", ""); register_shutdown_function("usleep", 1000); session_start();';
$of = waits_of(sprintf($handler, ''));
say_waits('within another', $of, 11);
check('the outer one', $of->php->waits_seconds->lock, 0.02, 600);
$of = waits_of(sprintf($handler, 'throw new Exception("out");'));
say_waits('an exception within', $of, 1);
$of = waits_of(sprintf($handler, 'exit;'));
say_waits('exit within', $of, 1);
$of = waits_of(sprintf($handler, 'str_repeat("x", PHP_INT_MAX >> 20);'), ['memory_limit' => '8M']);
say_waits('a fatal error within', $of, 1);
check('until the error', $of->php->waits_seconds->lock, 0.02, 600);
$of = waits_of(sprintf($handler, 'set_time_limit(1); while (true);'));
say_waits('a time-out within', $of, 1);

$wrapper = 'class W { public $context;
    function stream_open($p, $m, $o, &$x) { usleep(10000); return true; }
    function stream_read($n) { usleep(10000); return ""; }
    function stream_eof() { return true; } function stream_stat() { return []; }
} stream_wrapper_register("ww", "W"); file_get_contents("ww://x"); fread(fopen("ww://x", "r"), 10);
fopen("php://memory", "w+"); file_get_contents("data:,x");';
say_waits('a wrapper in PHP', waits_of($wrapper), 40);
?>
--EXPECT--
direct: sleep 2/0, right
none:, right
by name: sleep 4/0, right
as a callback: sleep 2/0, right
as a closure: sleep 2/0, right
in a loop: sleep 1000/0, right
a method: lock 1/0, right
an inherited method: lock 1/1, right
an exception: sleep 1/1, right
a false result: file 1/1, right
exit: sleep 1/0, right
in a shutdown function: sleep 1/0, right
in a destructor: sleep 1/0, right
after a fatal error: sleep 1/0, right
within another: lock 1/0 sleep 2/0, right
the outer one ok
an exception within: lock 1/1 sleep 1/0, right
exit within: lock 1/1 sleep 1/0, right
a fatal error within: lock 1/1 sleep 1/0, right
until the error ok
a time-out within: lock 1/1 sleep 1/0, right
a wrapper in PHP: sleep 4/0, right
