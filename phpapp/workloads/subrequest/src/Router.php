<?php
// Router.php - from a path to a route, with one regular expression for all that have
// variables; and from a route to its path.
declare(strict_types=1);

namespace Subrequest;

final class Router
{
    private array $routes;
    private array $fixed = [];      // path => name
    private string $pattern = '';

    public function __construct(array $routes)
    {
        $this->routes = $routes;
        $alternatives = [];
        foreach ($routes as $name => [$pattern]) {
            if (strpos($pattern, '{') === false) {
                $this->fixed[$pattern] = $name;
                continue;
            }
            $expression = preg_replace(['/\{\w+:word\}/', '/\{\w+\}/'], ['([a-z]+)', '(\d{1,9})'], $pattern);
            $alternatives[] = "$expression(*MARK:$name)";
        }
        $this->pattern = '#^(?|' . implode('|', $alternatives) . ')$#D';
    }

    // The route's name, its controller and the variables of the path, or null.
    public function match(string $path): ?array
    {
        if (isset($this->fixed[$path])) {
            $name = $this->fixed[$path];
            return ['_route' => $name, '_controller' => $this->routes[$name][1]];
        }
        if (!preg_match($this->pattern, $path, $values)) {
            return null;
        }
        $name = $values['MARK'];
        preg_match_all('/\{(\w+)/', $this->routes[$name][0], $variables);
        return ['_route' => $name, '_controller' => $this->routes[$name][1]]
            + array_combine($variables[1], array_slice($values, 1, count($variables[1])));
    }

    public function path(string $name, array $variables): string
    {
        return preg_replace_callback('/\{(\w+)(?::word)?\}/', static function (array $match) use ($variables): string {
            return rawurlencode((string)$variables[$match[1]]);
        }, $this->routes[$name][0]);
    }
}
