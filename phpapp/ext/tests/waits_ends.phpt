--TEST--
Waits: other ends are those of the stream itself, not of one before it
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';

function say_ends(string $title, object $of, array $names = []): void
{
    say_waits($title, $of);
    foreach ($of->ends as $name => $end)
        echo "  $end->kind: ", strtr($name, $names), " $end->calls/$end->failed\n";
}

$connect = '$server = stream_socket_server("tcp://127.0.0.1:0");
    $f = stream_socket_client("tcp://" . stream_socket_get_name($server, false));
    fwrite($f, "x"); fclose($f); unset($f);';
$hide_port = fn(object $of) => (object)array_replace((array)$of, ['ends' => array_combine(
    preg_replace('/:[0-9]+$/', ':PORT', array_keys($of->ends)), $of->ends)]);
say_ends('a file after a connection', $hide_port(waits_of($connect
    . 'for ($i = 0; $i < 10; $i++) { $t = tmpfile(); fwrite($t, "x"); fclose($t); unset($t); }')));
say_ends('pipes after a connection', $hide_port(waits_of($connect
    . '$p = proc_open(["true"], [["pipe", "r"], ["pipe", "w"]], $pipes);
    fread($pipes[1], 10); fclose($pipes[0]); fclose($pipes[1]); proc_close($p);')));
say_ends('a program that is waited for', waits_of('$p = proc_open(["sleep", "0.02"],
    [1 => ["pipe", "w"]], $pipes); $r = $pipes; $w = $e = null; stream_select($r, $w, $e, 5);
    proc_close($p);'));
say_ends('a pair that is waited for', waits_of('[$a, $b] = stream_socket_pair(STREAM_PF_UNIX,
    STREAM_SOCK_STREAM, 0); $r = [$a]; $w = $e = null; stream_select($r, $w, $e, 0, 1000);'));
say_ends('a log', waits_of('error_log("x", 3, "/dev/null");'));
say_ends('a pair after a connection', $hide_port(waits_of($connect
    . '[$a, $b] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    fwrite($a, "x"); fgetc($b);')));
say_ends('read from the buffer', waits_of('$f = fopen("/proc/self/status", "r");
    fgetc($f); fgetc($f); fgets($f); fread($f, 1);'));
say_ends('a closed stream', waits_of('$f = tmpfile(); fclose($f);
    try { fwrite($f, "x"); } catch (TypeError $e) {}'));
say_ends('neither', waits_of('fwrite(fopen("php://memory", "w+"), "x"); fwrite(fopen("php://temp", "w+"), "x");
    fwrite(fopen("php://output", "w"), "");'));
?>
--EXPECT--
a file after a connection: file 10/0 stream 2/0, right
  stream: tcp 127.0.0.1:PORT 2/0
  file: file 10/0
pipes after a connection: process 2/0 stream 2/0, right
  stream: tcp 127.0.0.1:PORT 2/0
  process: process 2/0
a program that is waited for: process 2/0, right
  process: process 2/0
a pair that is waited for: stream 1/0, right
  stream: stream select 1/0
a log: stream 1/0, right
  stream: stream error_log 1/0
a pair after a connection: stream 4/0, right
  stream: tcp 127.0.0.1:PORT 2/0
  stream: stream 2/0
read from the buffer: file 2/0, right
  file: file 2/0
a closed stream:, right
neither:, right
