<?php
// Response.php - what a pass through the kernel ends with.
declare(strict_types=1);

namespace Subrequest;

final class Response
{
    public string $content;
    public int $status;
    public Bag $headers;

    public function __construct(string $content, int $status = 200)
    {
        $this->content = $content;
        $this->status = $status;
        $this->headers = new Bag();
    }

    public function send(): void
    {
        http_response_code($this->status);
        foreach ($this->headers->all() as $name => $value) {
            header("$name: $value");
        }
        echo $this->content;
    }
}
