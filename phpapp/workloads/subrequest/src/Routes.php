<?php
// Routes.php - the site's routes; a page of it uses the first two.
declare(strict_types=1);

namespace Subrequest;

final class Routes
{
    private const SECTIONS = ['news', 'weather', 'harbour', 'people', 'boats', 'letters', 'repairs', 'travels',
        'search', 'account', 'basket', 'orders', 'help', 'press', 'jobs', 'archive'];

    // Name => [pattern, controller]; {name} is digits, {name:word} letters.
    public static function all(): array
    {
        $routes = ['page' => ['/page', 'page_controller::show'],
            'block' => ['/block/{level}/{number}', 'block_controller::show']];
        foreach (self::SECTIONS as $section) {
            $routes["{$section}_list"] = ["/$section", 'page_controller::show'];
            $routes["{$section}_item"] = ["/$section/{number}", 'page_controller::show'];
            $routes["{$section}_part"] = ["/$section/{number}/{part:word}", 'page_controller::show'];
        }
        return $routes;
    }
}
