<?php
// Fragments.php - a block of a page: a request of its own through the kernel.
declare(strict_types=1);

namespace Subrequest;

final class Fragments
{
    private Container $container;

    public function __construct(Container $container)
    {
        $this->container = $container;
    }

    public function render(string $route, array $variables, array $query): string
    {
        $path = $this->container->get('router')->path($route, $variables);
        $request = $this->container->get('stack')->current()->sub($path, $query);
        $response = $this->container->get('kernel')->handle($request, Kernel::SUB);
        if ($response->status !== 200) {
            throw new \RuntimeException("the block at $path answered $response->status");
        }
        return $response->content;
    }
}
