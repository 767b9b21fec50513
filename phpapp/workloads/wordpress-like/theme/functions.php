<?php
// functions.php - what the theme adds to the application.
declare(strict_types=1);

if (!defined('APPLICATION_FILES')) {
    exit;
}

add_action('template_redirect', static function (): void {
    Styles::add('reset', ':where(html){line-height:1.6}body{margin:0}img{max-width:100%}');
    $colours = '';
    foreach (get_option('theme_colours', []) as $name => $colour) {
        $colours .= ' --' . esc_name($name) . ': #' . esc_name($colour) . ';';
    }
    Styles::add('theme', file_get_contents(__DIR__ . '/style.css') . ":root {{$colours} }", ['reset']);
});

add_filter('the_excerpt', static function (string $html): string {
    return "<p>$html</p>\n";
}, 20);

add_filter('body_class', static function (array $classes): array {
    return array_merge($classes, ['theme-quay', 'has-sidebar']);
});
