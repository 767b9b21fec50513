<?php
// Event.php - what a listener gets and may change.
declare(strict_types=1);

namespace Subrequest;

final class Event
{
    public Request $request;
    public bool $is_main;
    public ?Response $response = null;
    public $controller = null;         // callable, from the event controller on
    public $result = null;             // what the controller returned, for view
    public ?\Throwable $error = null;  // for exception

    public function __construct(Request $request, bool $is_main)
    {
        $this->request = $request;
        $this->is_main = $is_main;
    }
}
