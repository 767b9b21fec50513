<?php
// Services.php - which services there are, and how each is made.
declare(strict_types=1);

namespace Subrequest;

final class Services
{
    public static function container(string $templates): Container
    {
        return new Container([
            'kernel' => static function (Container $c): Kernel {
                return new Kernel($c->get('events'), $c->get('controllers'), $c->get('arguments'), $c->get('stack'));
            },
            'events' => static function (Container $c): Events {
                return self::listeners($c, new Events());
            },
            'router' => static function (): Router {
                return new Router(Routes::all());
            },
            'controllers' => static function (Container $c): Controllers {
                return new Controllers($c);
            },
            'arguments' => static function (): Arguments {
                return new Arguments();
            },
            'stack' => static function (): Stack {
                return new Stack();
            },
            'templates' => static function (Container $c) use ($templates): Templates {
                return new Templates($templates, $c->get('fragments'));
            },
            'fragments' => static function (Container $c): Fragments {
                return new Fragments($c);
            },
            'catalogue' => static function (): Catalogue {
                return new Catalogue();
            },
            'page_controller' => static function (): PageController {
                return new PageController();
            },
            'block_controller' => static function (Container $c): BlockController {
                return new BlockController($c->get('catalogue'));
            },
        ]);
    }

    // Registers the listeners of each event, the higher priority first.
    private static function listeners(Container $c, Events $events): Events
    {
        $listeners = new Listeners($c);
        $events->listen('request', [$listeners, 'check_method'], 100);
        $events->listen('request', [$listeners, 'choose_locale'], 50);
        $events->listen('request', [$listeners, 'route'], 30);
        $events->listen('request', [$listeners, 'guard'], 8);
        $events->listen('controller', [$listeners, 'note_controller'], 0);
        $events->listen('view', [$listeners, 'render'], 0);
        $events->listen('response', [$listeners, 'add_headers'], 0);
        $events->listen('response', [$listeners, 'add_validator'], -100);
        $events->listen('exception', [$listeners, 'explain'], -10);
        $events->listen('finish', [$listeners, 'restore_locale'], 0);
        return $events;
    }
}
