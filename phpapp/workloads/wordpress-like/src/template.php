<?php
// template.php - the answer to a GET: the main query's posts in the theme's template for
// the view, inside of the theme's header and footer.
declare(strict_types=1);

// What the templates see: the request and what the main query found.
final class View
{
    public static array $request = [];
    public static array $query = [];
}

function respond(array $request): void
{
    $query = main_query($request);
    View::$request = $request;
    View::$query = $query ?? ['posts' => [], 'found' => 0, 'pages' => 0,
        'title' => esc_html(text('Nothing here'))];
    do_action('template_redirect', $request);
    if ($query === null) {
        http_response_code(404);
    }
    if ($request['view'] === 'feed' && $query !== null) {
        header('Content-Type: application/rss+xml; charset=utf-8');
        template('feed');
        return;
    }
    header('Content-Type: text/html; charset=utf-8');
    header('X-Content-Type-Options: nosniff');
    // First what is inside: the head has the styles of the blocks that it uses.
    $main = captured($query === null ? '404' : template_of($request));
    $sidebar = captured('sidebar');
    add_block_styles();
    template('header');
    echo $main, $sidebar;
    template('footer');
    do_action('shutdown');
}

function template_of(array $request): string
{
    $templates = ['front' => 'index', 'single' => 'single', 'search' => 'search'];
    return apply_filters('template', $templates[$request['view']] ?? 'archive', $request);
}

// Includes a template; its variables are in $with.
function template(string $name, array $with = []): void
{
    do_action("template_$name");
    (static function (string $file, array $with): void {
        require $file;
    })(dirname(__DIR__) . "/theme/$name.php", $with);
}

function captured(string $name, array $with = []): string
{
    ob_start();
    template($name, $with);
    return ob_get_clean();
}
