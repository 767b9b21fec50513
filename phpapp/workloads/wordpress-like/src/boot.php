<?php
// boot.php - loads the application in its order: what others build on first, then the
// library that generate.php wrote, then the theme. Included by index.php and setup.php.
declare(strict_types=1);

const APPLICATION_FILES = [
    'random', 'hooks', 'cache', 'database', 'storage', 'options', 'escaping', 'registry',
    'blocks', 'formatting', 'posts', 'terms', 'users', 'comments', 'menus', 'widgets', 'assets',
    'request', 'query', 'template', 'tags',
];

foreach (APPLICATION_FILES as $file) {
    require __DIR__ . "/$file.php";
}

function boot(): void
{
    $directory = workload_data_directory();
    $library = prepare_library($directory);
    Database::open($directory);
    require "$library/load.php";
    do_action('library_loaded');
    require dirname(__DIR__) . '/theme/functions.php';
    do_action('after_setup_theme');
    do_action('init');
    do_action('widgets_init');
    do_action('loaded');
}
