--TEST--
Waits in fibers: also of calls that a fiber leaves and comes back to
--EXTENSIONS--
mpmstat
--SKIPIF--
<?php if (PHP_VERSION_ID < 80100) die('skip Fibers came with PHP 8.1'); ?>
--FILE--
<?php
require __DIR__ . '/common.inc';
say_waits('in a fiber', waits_of('$f = new Fiber(function () {
    usleep(10000); Fiber::suspend(); usleep(10000); }); $f->start(); usleep(10000); $f->resume();'), 30);

// session_start() calls a handler in PHP, which leaves the fiber; outside it 0.1 s pass.
$handler = 'class H implements SessionHandlerInterface {
    function open($p, $n): bool { usleep(10000); %s return true; }
    function close(): bool { return true; }
    function read($i): string|false { usleep(10000); return ""; }
    function write($i, $d): bool { return true; }
    function destroy($i): bool { return true; }
    function gc($l): int|false { return 0; }
} session_set_save_handler(new H, false); ini_set("session.use_cookies", 0);
ini_set("session.cache_limiter", ""); $f = new Fiber("session_start"); $f->start(); usleep(100000);';
$leave = sprintf($handler, 'Fiber::suspend();');
$of = waits_of($leave . '$f->resume(); usleep(1000);');
say_waits('left and come back to', $of, 101);
check('its own time', $of->php->waits_seconds->lock, 0.02, 0.1);
$of = waits_of($leave . 'usleep(1000);');
say_waits('never come back to', $of, 101);
$of = waits_of($leave . 'no_such_function();');
say_waits('left by a fatal error', $of, 100);
$of = waits_of(sprintf($handler, 'throw new Exception;'));
say_waits('left by an exception', $of);
$of = waits_of(sprintf($handler, '(new Fiber("usleep"))->start(10000);'));
say_waits('one fiber within another', $of, 110);
?>
--EXPECT--
in a fiber: sleep 3/0, right
left and come back to: lock 1/0 sleep 2/0, right
its own time ok
never come back to: lock 1/1 sleep 2/0, right
left by a fatal error: lock 1/1 sleep 1/0, right
left by an exception: lock 1/1, right
one fiber within another: lock 1/0 sleep 2/0, right
