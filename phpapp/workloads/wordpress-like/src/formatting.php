<?php
// formatting.php - from what people type to what is typeset: quotes and dashes,
// paragraphs, links, excerpts. Hooked to the texts that are shown.
declare(strict_types=1);

if (!defined('APPLICATION_FILES')) {
    exit;
}

// Splits HTML into tags and the text between them; every second part is a tag.
function split_html(string $html): array
{
    return preg_split('/(<!--.*?-->|<[^<>]*>)/s', $html, -1, PREG_SPLIT_DELIM_CAPTURE);
}

// Typographic quotes, dashes, ellipses, multiplication signs, primes; not in tags, and
// not inside of elements that show code.
function texturize(string $html): string
{
    static $patterns = null;
    $patterns = $patterns ?? apply_filters('texturize_patterns', [
        '/(?<=\d)"(?=[\s.,;)]|$)/' => '&#8243;',
        "/(?<=\d)'(?=[\s.,;)]|$)/" => '&#8242;',
        '/(?<=^|[\s(\[{"\'-])\'(?=\d\d(?:s|\b))/' => '&#8217;',
        '/(?<=\w)\'(?=\w)/' => '&#8217;',
        '/(?<=^|[\s(\[{])"(?=\S)/' => '&#8220;',
        '/"/' => '&#8221;',
        "/(?<=^|[\s(\[{])'(?=\S)/" => '&#8216;',
        "/'/" => '&#8217;',
        '/---/' => '&#8212;',
        '/(?<=\s)--(?=\s)/' => '&#8212;',
        '/(?<!-)--(?!-)/' => '&#8211;',
        '/\.\.\./' => '&#8230;',
        '/\b(\d+)x(\d+)\b/' => '$1&#215;$2',
        '/\s\(tm\)/i' => ' &#8482;',
        '/&(?![a-z][a-z0-9]+;|#\d+;|#x[0-9a-f]+;)/i' => '&#038;',
    ]);
    $parts = split_html($html);
    $verbatim = 0;
    foreach ($parts as $index => $part) {
        if ($index % 2) {
            $verbatim += preg_match('#^<(pre|code|kbd|style|script|tt)\b#i', $part)
                - preg_match('#^</(pre|code|kbd|style|script|tt)>#i', $part);
        } elseif ($verbatim <= 0 && trim($part) !== '') {
            $parts[$index] = preg_replace(array_keys($patterns), array_values($patterns), $part);
        }
    }
    return implode('', $parts);
}

// Paragraphs from empty lines, line breaks from single ones, around block elements.
function paragraphs(string $html): string
{
    $blocks = 'address|article|aside|blockquote|dd|div|dl|dt|figcaption|figure|footer|form|h[1-6]|'
        . 'header|hr|li|main|nav|ol|p|pre|section|table|tbody|td|tfoot|th|thead|tr|ul';
    $html = str_replace(["\r\n", "\r"], "\n", $html) . "\n";
    $html = preg_replace("#(<(?:$blocks)\b[^>]*>)#", "\n\n$1", $html);
    $html = preg_replace("#(</(?:$blocks)>)#", "$1\n\n", $html);
    $result = '';
    foreach (preg_split('/\n\s*\n/', $html, -1, PREG_SPLIT_NO_EMPTY) as $piece) {
        $piece = trim($piece);
        if ($piece === '') {
            continue;
        }
        $is_block = preg_match("#^</?(?:$blocks)\b#", $piece);
        $result .= ($is_block ? $piece : '<p>' . str_replace("\n", "<br>\n", $piece) . '</p>') . "\n";
    }
    return preg_replace(["#<p>\s*(</?(?:$blocks)\b[^>]*>)#", "#(</?(?:$blocks)\b[^>]*>)\s*</p>#",
        '#<p>\s*</p>\n?#'], ['$1', '$1', ''], $result);
}

// Links for addresses in text that is escaped already: from letters that no markup needs.
function clickable(string $html): string
{
    $parts = split_html($html);
    foreach ($parts as $index => $part) {
        if ($index % 2 === 0 && strpos($part, '://') !== false) {
            $parts[$index] = preg_replace('#\bhttps?://[A-Za-z0-9._~/?=%+-]*[A-Za-z0-9/]#',
                '<a href="$0" rel="nofollow ugc">$0</a>', $part);
        }
    }
    return implode('', $parts);
}

// [name attribute="value"] as the function of that name wants it.
function shortcodes(string $html): string
{
    $known = apply_filters('shortcodes', []);
    if (!$known || strpos($html, '[') === false) {
        return $html;
    }
    $names = implode('|', array_map('preg_quote', array_keys($known)));
    return preg_replace_callback("/\[($names)((?:\s+\w+=\"[^\"]*\")*)\s*\]/",
        static function (array $match) use ($known): string {
            preg_match_all('/(\w+)="([^"]*)"/', $match[2], $pairs);
            return $known[$match[1]](array_combine($pairs[1], $pairs[2]));
        }, $html);
}

function smilies(string $html): string
{
    $faces = [':-)' => '&#x1f642;', ':-(' => '&#x1f641;', ';-)' => '&#x1f609;', ':-D' => '&#x1f600;'];
    $parts = split_html($html);
    foreach ($parts as $index => $part) {
        if ($index % 2 === 0) {
            $parts[$index] = strtr($part, $faces);
        }
    }
    return implode('', $parts);
}

// The first words of a text, without its markup.
function trim_words(string $html, int $count): string
{
    $words = preg_split('/\s+/', trim(strip_tags(preg_replace('/<!--.*?-->/s', '', $html))),
        $count + 1, PREG_SPLIT_NO_EMPTY);
    if (count($words) > $count) {
        array_pop($words);
        return implode(' ', $words) . ' ...';
    }
    return implode(' ', $words);
}

add_filter('the_content', 'render_blocks', 9);
add_filter('the_content', 'texturize');
add_filter('the_content', 'paragraphs');
add_filter('the_content', 'shortcodes', 11);
add_filter('the_content', 'smilies', 20);
add_filter('the_title', 'texturize');
add_filter('the_excerpt', 'texturize');
add_filter('comment_text', 'texturize');
add_filter('comment_text', 'clickable', 9);
add_filter('comment_text', 'paragraphs', 30);
add_filter('comment_text', 'smilies', 20);
add_filter('comment_excerpt', 'texturize');
add_filter('bloginfo', 'texturize');
