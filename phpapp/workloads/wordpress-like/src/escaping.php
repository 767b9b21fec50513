<?php
// escaping.php - the only ways in which data becomes HTML: every template uses them.
declare(strict_types=1);

// What is not UTF-8 is replaced: a broken character can swallow the markup after it.
function escape(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
}

function esc_html(string $text): string
{
    return apply_filters('esc_html', escape($text), $text);
}

function esc_attr(string $text): string
{
    return apply_filters('esc_attr', escape($text), $text);
}

// A web address for an attribute; '' for every scheme that a browser would execute.
function esc_url(string $url): string
{
    $url = preg_replace('/[^A-Za-z0-9._~:\/?#\[\]@!$&\'()*+,;=%-]/', '', $url);
    if (preg_match('/^[a-z][a-z0-9+.-]*:/i', $url) && !preg_match('/^(https?|mailto):/i', $url)) {
        return '';
    }
    return esc_attr(apply_filters('clean_url', $url));
}

// The words of a text, for an attribute that names things (id, class).
function esc_name(string $text): string
{
    return trim(preg_replace('/[^a-z0-9_-]+/', '-', strtolower($text)), '-');
}
