--TEST--
phpinfo() shows the board, and why there is none
--EXTENSIONS--
mpmstat
--FILE--
<?php
require __DIR__ . '/common.inc';
foreach (['recording', 'board', 'board bytes', 'room for', 'label of this request'] as $row)
    phpinfo_says($row);
echo run_php('phpinfo(INFO_MODULES);', ['mpmstat.board' => '/nonexistent/x.board'], 'recording'), "\n";
?>
--EXPECTF--
recording => on
board => %s/cli-%d.board
board bytes => %d
room for => 256 processes, 8 labels, 8192 journal records
label of this request => default
recording => cannot make the board /nonexistent/x.board: No such file or directory; the directory must exist and be writable for the user that starts the server
