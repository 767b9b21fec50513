<?php
// blocks.php - post content is blocks: comments <!-- block:name {attributes} --> around
// HTML, nested at will. Parsed into a tree, rendered by the type of each block.
declare(strict_types=1);

const BLOCK_DEPTH_MAX = 20;

// The content's blocks: [name, attributes, parts], a part being HTML or a block.
function parse_blocks(string $content): array
{
    $pieces = preg_split('/<!-- (\/?)block:([a-z0-9-]+)((?: \{.*?\})?) -->/s', $content, -1,
        PREG_SPLIT_DELIM_CAPTURE);
    $stack = [['', [], [$pieces[0]]]];
    for ($i = 1; $i + 3 < count($pieces); $i += 4) {
        [$closes, $name, $json, $text] = array_slice($pieces, $i, 4);
        if ($closes === '' && count($stack) <= BLOCK_DEPTH_MAX) {
            $stack[] = [$name, (array)json_decode($json === '' ? '{}' : $json, true), []];
        } elseif ($closes !== '' && count($stack) > 1) {
            $done = array_pop($stack);
            $stack[count($stack) - 1][2][] = $done;
        }
        $stack[count($stack) - 1][2][] = $text;
    }
    while (count($stack) > 1) {
        $done = array_pop($stack);
        $stack[count($stack) - 1][2][] = $done;
    }
    return $stack[0][2];
}

function render_block(array $block): string
{
    [$name, $attributes, $parts] = $block;
    $content = render_parts($parts);
    $type = Registry::find('block', $name);
    if (!$type) {
        return $content;
    }
    Registry::add('block_used', $name, $type);
    $attributes = $type->prepare(apply_filters('block_data', $attributes, $name));
    $html = $type->render($attributes, $content);
    return apply_filters("render_block_$name", apply_filters('render_block', $html, $name), $attributes);
}

function render_parts(array $parts): string
{
    $html = '';
    foreach ($parts as $part) {
        $html .= is_array($part) ? render_block($part) : $part;
    }
    return $html;
}

function render_blocks(string $content): string
{
    return render_parts(parse_blocks($content));
}
