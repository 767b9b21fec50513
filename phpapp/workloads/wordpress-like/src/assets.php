<?php
// assets.php - style sheets: queued with what they depend on, printed in that order,
// into the page itself. Only those of blocks that the page has are among them.
declare(strict_types=1);

final class Styles
{
    private static array $sheets = [];   // name => [css, names it depends on]
    private static array $done = [];

    public static function add(string $name, string $css, array $after = []): void
    {
        self::$sheets[$name] = [$css, $after];
    }

    public static function print_all(): string
    {
        $html = '';
        foreach (array_keys(self::$sheets) as $name) {
            $html .= self::print_one($name);
        }
        return $html;
    }

    private static function print_one(string $name): string
    {
        if (isset(self::$done[$name]) || !isset(self::$sheets[$name])) {
            return '';
        }
        self::$done[$name] = true;
        [$css, $after] = self::$sheets[$name];
        return implode('', array_map([self::class, 'print_one'], $after))
            . sprintf("<style id=\"%s-css\">\n%s\n</style>\n", esc_attr($name),
                apply_filters('style', $css, $name));
    }
}

function add_block_styles(): void
{
    foreach (Registry::all('block_used') as $name => $type) {
        Styles::add("block-$name", $type->style(), ['theme']);
    }
}
