<?php
// Stack.php - the requests that are being handled, the client's at the bottom.
declare(strict_types=1);

namespace Subrequest;

final class Stack
{
    private array $requests = [];

    public function push(Request $request): void
    {
        $this->requests[] = $request;
    }

    public function pop(): void
    {
        array_pop($this->requests);
    }

    public function current(): ?Request
    {
        return $this->requests ? $this->requests[count($this->requests) - 1] : null;
    }
}
