<?php
// setup.php - prepares the data directory before the first request, which would do it
// otherwise: php setup.php. The directory, or the database, is the one that the
// environment names, as for the pages; run it as the user that PHP serves as.
declare(strict_types=1);

if (PHP_SAPI !== 'cli') {
    exit;
}
require __DIR__ . '/../common.php';
require __DIR__ . '/src/boot.php';
boot();
echo 'ready: ', count(get_included_files()), ' files included, data in ', workload_data_directory(), "\n";
