<?php
// Bag.php - named values: of a query, of a request's attributes, of headers.
declare(strict_types=1);

namespace Subrequest;

final class Bag
{
    private array $values;

    public function __construct(array $values = [])
    {
        $this->values = $values;
    }

    public function has(string $name): bool
    {
        return array_key_exists($name, $this->values);
    }

    public function get(string $name, $default = null)
    {
        return $this->values[$name] ?? $default;
    }

    public function set(string $name, $value): void
    {
        $this->values[$name] = $value;
    }

    public function all(): array
    {
        return $this->values;
    }
}
