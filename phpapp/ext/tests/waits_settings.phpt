--TEST--
mpmstat.waits and mpmstat.ends turn off what they say
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
$code = 'usleep(20000); @fopen("http://127.0.0.1:1/secret?query", "r"); '
      . '@stream_socket_client("tcp://127.0.0.1:1"); flock(fopen("/dev/null", "r"), LOCK_SH);';
foreach ([[], ['mpmstat.ends' => 0], ['mpmstat.waits' => 0]] as $settings) {
    $of = waits_of($code, $settings);
    say_waits(http_build_query($settings, '', ' ') ?: 'both', $of);
    foreach ($of->ends as $name => $end)
        echo "  $end->kind: $name $end->calls/$end->failed\n";
}
?>
--EXPECT--
both: http 1/1 lock 1/0 file 1/0 sleep 1/0 stream 1/1, right
  sleep: sleep 1/0
  http: http 127.0.0.1:1 1/1
  stream: tcp 127.0.0.1:1 1/1
  file: file 1/0
  lock: lock flock 1/0
mpmstat.ends=0: http 1/1 lock 1/0 file 1/0 sleep 1/0 stream 1/1, right
  : other 5/2
mpmstat.waits=0:, right
