<?php
// Request.php - one request to the kernel: the client's, or one for a block of its page.
declare(strict_types=1);

namespace Subrequest;

final class Request
{
    public string $method;
    public string $path;
    public Bag $query;
    public Bag $attributes;    // what router and listeners find out
    public Bag $headers;
    public string $locale = 'en';

    public function __construct(string $method, string $path, array $query = [], array $headers = [])
    {
        $this->method = $method;
        $this->path = $path;
        $this->query = new Bag($query);
        $this->attributes = new Bag();
        $this->headers = new Bag($headers + ['accept' => 'text/html', 'accept-language' => 'en']);
    }

    // The request for what is at $path, in the name of this one.
    public function sub(string $path, array $query): self
    {
        $sub = new self('GET', $path, $query, $this->headers->all());
        $sub->locale = $this->locale;
        $sub->attributes->set('_parent', $this->attributes->get('_route'));
        return $sub;
    }
}
