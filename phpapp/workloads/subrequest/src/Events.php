<?php
// Events.php - calls the listeners of an event, in the order of their priority.
declare(strict_types=1);

namespace Subrequest;

final class Events
{
    private array $listeners = [];   // event => priority => callables
    private array $sorted = [];      // event => callables

    public function listen(string $event, callable $listener, int $priority): void
    {
        $this->listeners[$event][$priority][] = $listener;
        unset($this->sorted[$event]);
    }

    public function dispatch(string $name, Event $event): Event
    {
        foreach ($this->of($name) as $listener) {
            $listener($event, $name);
        }
        return $event;
    }

    private function of(string $name): array
    {
        if (!isset($this->sorted[$name])) {
            $priorities = $this->listeners[$name] ?? [];
            krsort($priorities);
            $this->sorted[$name] = array_merge([], ...array_values($priorities));
        }
        return $this->sorted[$name];
    }
}
