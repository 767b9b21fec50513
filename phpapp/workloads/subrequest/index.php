<?php
// index.php - a page made of blocks, each rendered by a full pass through the kernel:
// request, router, container, event listeners, controller, template.
// Parameters: blocks, depth, work.
declare(strict_types=1);
require __DIR__ . '/../common.php';

const BLOCKS_MAX = 1000;
const DEPTH_MAX  = 10;
const WORK_MAX   = 10000;
// Of all blocks together: some seconds of CPU.
const ENTRIES_MAX = 1000000;

// As frameworks do: a file a class, found when it is first named.
spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/src/' . strtr($class, ['Subrequest\\' => '', '\\' => '/']) . '.php';
    if (strncmp($class, 'Subrequest\\', 11) === 0 && is_file($file)) {
        require $file;
    }
});

workload_only_on_loopback();
workload_only_parameters('blocks', 'depth', 'work');
$blocks = workload_integer('blocks', 50, 0, BLOCKS_MAX);
$depth = workload_integer('depth', 1, 1, DEPTH_MAX);
$work = workload_integer('work', 100, 0, WORK_MAX);
if ($blocks * $depth * $work > ENTRIES_MAX) {
    workload_refuse(400, 'The number of blocks times depth times work should be at most ' . ENTRIES_MAX . '.');
}

$container = Subrequest\Services::container(__DIR__ . '/templates');
$request = new Subrequest\Request('GET', '/page',
    ['blocks' => $blocks, 'depth' => $depth, 'work' => $work]);
$kernel = $container->get('kernel');
$response = $kernel->handle($request, Subrequest\Kernel::MAIN);
$response->headers->set('X-Subrequest', 'passes=' . $kernel->passes());
$response->send();
$kernel->terminate($request, $response);
