<?php
// Arguments.php - a controller's arguments by their names and types: the request itself,
// a variable of the path, a value of the query, the default.
declare(strict_types=1);

namespace Subrequest;

final class Arguments
{
    private array $known = [];   // class::method => [name, type, has a default, default]...

    public function of(array $controller, Request $request): array
    {
        $arguments = [];
        foreach ($this->parameters($controller) as [$name, $type, $optional, $default]) {
            if ($type === Request::class) {
                $arguments[] = $request;
                continue;
            }
            $value = $request->attributes->get($name) ?? $request->query->get($name);
            if ($value === null && !$optional) {
                throw new \LogicException("the controller wants $name, which the request does not have");
            }
            $value = $value ?? $default;
            $arguments[] = $type === 'int' ? (int)$value : $value;
        }
        return $arguments;
    }

    private function parameters(array $controller): array
    {
        $key = get_class($controller[0]) . '::' . $controller[1];
        if (!isset($this->known[$key])) {
            $this->known[$key] = [];
            foreach ((new \ReflectionMethod($controller[0], $controller[1]))->getParameters() as $parameter) {
                $type = $parameter->getType();
                $optional = $parameter->isDefaultValueAvailable();
                $this->known[$key][] = [$parameter->getName(), $type ? $type->getName() : '', $optional,
                    $optional ? $parameter->getDefaultValue() : null];
            }
        }
        return $this->known[$key];
    }
}
