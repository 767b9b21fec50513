<?php
// Controllers.php - the method of a service that a route names.
declare(strict_types=1);

namespace Subrequest;

final class Controllers
{
    private Container $container;

    public function __construct(Container $container)
    {
        $this->container = $container;
    }

    public function of(Request $request): callable
    {
        [$service, $method] = explode('::', (string)$request->attributes->get('_controller'), 2);
        return [$this->container->get($service), $method];
    }
}
