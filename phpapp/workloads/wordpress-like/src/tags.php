<?php
// tags.php - what templates print, all of it HTML that is escaped already.
declare(strict_types=1);

function blog_info(string $name): string
{
    return apply_filters('bloginfo', esc_html((string)get_option("blog_$name")), $name);
}

function post_link(array $post): string
{
    return page_link([$post['kind'] === 'page' ? 'page_id' : 'p' => (int)$post['id']]);
}

function the_title_of(array $post): string
{
    return apply_filters('the_title', esc_html($post['title']), $post['id']);
}

// Content is the authors': blocks of HTML, which a visitor has no way to write.
function the_content_of(array $post): string
{
    return apply_filters('the_content', $post['content']);
}

function the_excerpt_of(array $post): string
{
    $text = $post['excerpt'] !== '' ? $post['excerpt'] : trim_words($post['content'], 40);
    return apply_filters('the_excerpt', esc_html($text));
}

function the_date_of(array $post): string
{
    $format = get_option('date_format', 'F j, Y');
    return apply_filters('the_date', esc_html(gmdate($format, (int)strtotime($post['published'] . ' UTC'))));
}

function the_time_of(array $post): string
{
    return sprintf('<time datetime="%s">%s</time>', esc_attr(str_replace(' ', 'T', $post['published']) . 'Z'),
        the_date_of($post));
}

function the_author_of(array $post): string
{
    $id = (int)$post['author_id'];
    return sprintf('<a href="%s" rel="author">%s</a>', page_link(['author' => $id]), esc_html(author_name($id)));
}

function the_terms_of(array $post, string $taxonomy): string
{
    $links = [];
    foreach (post_terms((int)$post['id'], $taxonomy) as $term) {
        $links[] = sprintf('<a href="%s" rel="tag" style="border-color: %s">%s</a>', term_link($term),
            esc_attr(term_colour($term)), esc_html($term['name']));
    }
    return apply_filters('the_terms', implode(', ', $links), $taxonomy);
}

// Pictures are drawn by the style sheet: there are no files to fetch.
function the_picture_of(array $post): string
{
    $picture = get_post((int)post_meta((int)$post['id'], 'picture'));
    if (!$picture) {
        return '';
    }
    $id = $picture['id'];
    return sprintf('<figure class="picture" style="aspect-ratio: %d / %d; background: %s" role="img" '
        . 'aria-label="%s"></figure>', (int)post_meta($id, 'width'), (int)post_meta($id, 'height'),
        esc_attr(post_meta($id, 'colour')), esc_attr($picture['title']));
}

function post_classes(array $post): string
{
    $classes = ['post', 'post-' . $post['id'], 'kind-' . $post['kind'], 'status-' . $post['status']];
    foreach (['category', 'tag'] as $taxonomy) {
        foreach (post_terms((int)$post['id'], $taxonomy) as $term) {
            $classes[] = "$taxonomy-" . esc_name($term['slug']);
        }
    }
    return esc_attr(implode(' ', apply_filters('post_class', $classes, $post['id'])));
}

function body_classes(): string
{
    $classes = ['blog', 'view-' . View::$request['view'], View::$request['page'] > 1 ? 'paged' : 'first'];
    return esc_attr(implode(' ', apply_filters('body_class', $classes)));
}

function comment_count_text(array $post): string
{
    $number = (int)$post['comment_count'];
    return esc_html($number === 1 ? text('One comment') : sprintf(text('%d comments'), $number));
}

function search_form(): string
{
    return sprintf("<form role=\"search\" method=\"get\" action=\"%s\">\n<label>%s <input type=\"search\" "
        . "name=\"s\" maxlength=\"%d\" value=\"%s\"></label>\n<button>%s</button>\n</form>\n", blog_path(),
        esc_html(text('Search for:')), SEARCH_LONGEST, esc_attr(View::$request['view'] === 'search'
            ? View::$request['text'] : ''), esc_html(text('Search')));
}

// Links to the other pages of a list.
function pagination(): string
{
    $page = View::$request['page'];
    $parameters = View::$request['by'] === '' ? [] : [View::$request['by'] =>
        View::$request['view'] === 'search' ? View::$request['text'] : View::$request['id']];
    $html = '';
    for ($number = 1; $number <= View::$query['pages']; $number++) {
        if ($number === 1 || $number === View::$query['pages'] || abs($number - $page) <= 2) {
            $html .= $number === $page ? "<span aria-current=\"page\">$number</span>\n" : sprintf(
                "<a href=\"%s\">%d</a>\n", page_link($parameters + ['paged' => $number]), $number);
        }
    }
    return $html === '' ? '' : "<nav class=\"pagination\">\n$html</nav>\n";
}

// Returns a comment as it is shown. Its author is not trusted: all of it is escaped first.
function comment_html(array $comment): string
{
    $author = esc_html($comment['author']);
    if ($comment['url'] !== '') {
        $author = sprintf('<a href="%s" rel="nofollow ugc">%s</a>', esc_url($comment['url']), $author);
    }
    return sprintf("<li id=\"comment-%d\" class=\"comment\">\n<p><cite>%s</cite> <time>%s</time></p>\n"
        . "%s</li>\n", (int)$comment['id'], $author, esc_html($comment['published']),
        apply_filters('comment_text', esc_html($comment['content'])));
}
