<?php
// Container.php - the services: each is made when it is first asked for, by its factory,
// which asks for those that it needs.
declare(strict_types=1);

namespace Subrequest;

final class Container
{
    private array $factories;
    private array $services = [];

    public function __construct(array $factories)
    {
        $this->factories = $factories;
    }

    public function get(string $name)
    {
        if (!isset($this->services[$name])) {
            if (!isset($this->factories[$name])) {
                throw new \LogicException("there is no service $name");
            }
            $this->services[$name] = ($this->factories[$name])($this);
        }
        return $this->services[$name];
    }
}
