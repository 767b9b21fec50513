<?php
// Kernel.php - from a request to a response, through the events: the same way for the
// client's request and for each block's.
declare(strict_types=1);

namespace Subrequest;

final class Kernel
{
    public const MAIN = true;
    public const SUB = false;

    private Events $events;
    private Controllers $controllers;
    private Arguments $arguments;
    private Stack $stack;
    private int $passes = 0;

    public function __construct(Events $events, Controllers $controllers, Arguments $arguments, Stack $stack)
    {
        $this->events = $events;
        $this->controllers = $controllers;
        $this->arguments = $arguments;
        $this->stack = $stack;
    }

    public function handle(Request $request, bool $is_main): Response
    {
        $this->passes++;
        $this->stack->push($request);
        $event = new Event($request, $is_main);
        try {
            $event->response = $this->respond($event);
        } catch (\Throwable $error) {
            $event->error = $error;
            $this->events->dispatch('exception', $event);
            if (!$event->response) {
                throw $error;
            }
        } finally {
            $this->stack->pop();
        }
        $this->events->dispatch('response', $event);
        $this->events->dispatch('finish', $event);
        return $event->response;
    }

    private function respond(Event $event): Response
    {
        $this->events->dispatch('request', $event);
        if ($event->response) {
            return $event->response;
        }
        $event->controller = $this->controllers->of($event->request);
        $this->events->dispatch('controller', $event);
        $arguments = $this->arguments->of($event->controller, $event->request);
        $event->result = ($event->controller)(...$arguments);
        if ($event->result instanceof Response) {
            return $event->result;
        }
        $this->events->dispatch('view', $event);
        if (!$event->response) {
            throw new \LogicException('nothing made a response of what the controller returned');
        }
        return $event->response;
    }

    public function terminate(Request $request, Response $response): void
    {
        $event = new Event($request, self::MAIN);
        $event->response = $response;
        $this->events->dispatch('terminate', $event);
    }

    public function passes(): int
    {
        return $this->passes;
    }
}
