<?php
// all_of_the_library.php - calls everything in wordpress-like's generated library, with values
// good and bad: whatever PHP complains of is an error. Run by test_workloads.py.
declare(strict_types=1);

set_error_handler(static function (int $level, string $text, string $file, int $line): bool {
    throw new ErrorException($text, 0, $level, $file, $line);
});
$_SERVER['SCRIPT_NAME'] = '/index.php';
require $argv[1] . '/common.php';
require $argv[1] . '/wordpress-like/src/boot.php';
boot();

$texts = ['', 'word', "It's 12\" -- (tm) 3 anchors [beacon:anchor] @net <b>x</b>",
    str_repeat('long. ', 2000)];
$values = [null, '', '7', 7, 7.5, 'anchor', 'a,b,,c', ['x', []], '#abc', '#123456', '-3', true];
$records = [['draft', 0, ''], ['publish', 1, '2024-12-30 10:00:00'], ['x', 90, '2001-01-01 00:00:00']];

foreach (Registry::all('block') as $type) {
    foreach (range(-1, 20) as $variation) {
        foreach ($texts as $index => $text) {
            $attributes = $type->prepare(['variation' => $variation, 'caption' => "$text <i>",
                'align' => 'left', 'columns' => $index + 1, 'wide' => $index % 2 === 0]);
            $html = $type->render($attributes, $text === '' ? '' : "<h2>t</h2><p>$text</p>");
            if (strpos($html, '<i>') !== false) {
                throw new Error('not escaped: ' . get_class($type) . " $variation");
            }
        }
    }
}
foreach (get_declared_classes() as $class) {
    if (is_subclass_of($class, 'Setting_Group')) {
        $group = new $class();
        foreach (array_keys($group->settings()) as $name) {
            foreach ($values as $value) {
                $group->sanitize($name, $value);
            }
        }
    } elseif (is_subclass_of($class, 'Record_Type')) {
        foreach (range(0, 20) as $how) {
            foreach ($records as [$status, $number, $published]) {
                (new $class())->describe($how, ['title' => 't', 'status' => $status,
                    'number' => $number, 'published' => $published]);
            }
        }
    }
}
foreach (LIBRARY_HOOKS as $hook) {
    foreach ($texts as $text) {
        apply_filters($hook, $text, 1);
    }
}
echo "all of it\n";
