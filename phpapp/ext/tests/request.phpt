--TEST--
A request's time, CPU time, memory and ending, in ranges
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
$directory = boards();
$settings = ['mpmstat.label' => 'child', 'mpmstat.board' => $directory];
run_php('$text = str_repeat("x", 4000000);
         for ($until = hrtime(true) + 50000000; hrtime(true) < $until; ) md5($text);', $settings);
run_php('throw new Exception("nobody takes this");', $settings);
run_php('set_time_limit(1); while (true);', $settings);
run_php('trigger_error("x", E_USER_WARNING);', $settings);
$board = board($directory);
$label = array_column($board->labels, null, 'label')['child'];
check('requests', $label->requests, 4, 4);
check('2xx', $label->status->{'2xx'}, 2, 2);
check('5xx', $label->status->{'5xx'}, 2, 2);
check('fatal errors', $label->php->fatal_errors, 1, 1);
check('timeouts', $label->php->timeouts, 1, 1);
check('memory', $label->php->memory_max_bytes, 4000000, 6000000);
check('user and system', $label->php->user_seconds + $label->php->system_seconds, 0.5, 60);
check('run', $label->phases->php_run->sum_seconds, 1.05, 600);
check('longest', $label->phases->php_run->max_seconds, 0.9, 300);
check('waits', $label->phases->php_wait->count, 0, 0);
check('processes', $board->lifecycle->forks->php, 4, 4);
check('clean exits', $board->lifecycle->exits->clean, 4, 4);
?>
--EXPECT--
requests ok
2xx ok
5xx ok
fatal errors ok
timeouts ok
memory ok
user and system ok
run ok
longest ok
waits ok
processes ok
clean exits ok
