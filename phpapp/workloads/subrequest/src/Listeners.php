<?php
// Listeners.php - what happens at each event of each pass; Services says in which order.
declare(strict_types=1);

namespace Subrequest;

final class Listeners
{
    private const LOCALES = ['en', 'fr', 'de'];

    // Which paths need no login (true); the first pattern that matches decides.
    private const ACCESS = ['#^/(account|orders|basket)(/|$)#' => false, '#^/#' => true];

    private Container $container;

    public function __construct(Container $container)
    {
        $this->container = $container;
    }

    public function check_method(Event $event): void
    {
        if (!in_array($event->request->method, ['GET', 'HEAD'], true)) {
            $event->response = new Response('', 405);
        }
    }

    public function choose_locale(Event $event): void
    {
        foreach (explode(',', (string)$event->request->headers->get('accept-language')) as $wanted) {
            $locale = substr(trim($wanted), 0, 2);
            if (in_array($locale, self::LOCALES, true)) {
                $event->request->locale = $locale;
                return;
            }
        }
    }

    public function route(Event $event): void
    {
        $found = $this->container->get('router')->match($event->request->path);
        if ($found === null) {
            throw new NotFound('no route for ' . $event->request->path);
        }
        foreach ($found as $name => $value) {
            $event->request->attributes->set($name, $value);
        }
    }

    public function guard(Event $event): void
    {
        foreach (self::ACCESS as $pattern => $everybody) {
            if (preg_match($pattern, $event->request->path)) {
                if (!$everybody) {
                    $event->response = new Response('', 403);
                }
                return;
            }
        }
    }

    public function note_controller(Event $event): void
    {
        $event->request->attributes->set('_template', $event->request->attributes->get('_route'));
    }

    public function render(Event $event): void
    {
        if (is_array($event->result)) {
            $event->response = new Response($this->container->get('templates')->render(
                (string)$event->request->attributes->get('_template'), $event->result));
        }
    }

    public function add_headers(Event $event): void
    {
        $headers = $event->response->headers;
        $headers->set('Content-Language', $event->request->locale);
        $headers->set('Cache-Control', $event->is_main ? 'private, must-revalidate' : 'max-age=60');
        if (!$headers->has('Content-Type')) {
            $headers->set('Content-Type', 'text/html; charset=utf-8');
        }
    }

    public function add_validator(Event $event): void
    {
        $event->response->headers->set('ETag', '"' . md5($event->response->content) . '"');
    }

    public function explain(Event $event): void
    {
        if ($event->error instanceof NotFound) {
            $event->response = new Response('', 404);
        }
    }

    public function restore_locale(Event $event): void
    {
        $parent = $this->container->get('stack')->current();
        if ($parent) {
            $event->request->attributes->set('_parent_locale', $parent->locale);
        }
    }
}
