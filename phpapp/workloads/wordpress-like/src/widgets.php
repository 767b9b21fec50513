<?php
// widgets.php - the sidebar: widgets in the order of the option "sidebar", each with
// settings of its own. The core's six are here; the library brings others.
declare(strict_types=1);

if (!defined('APPLICATION_FILES')) {
    exit;
}

abstract class Widget
{
    abstract public function name(): string;

    abstract public function defaults(): array;

    // The HTML below the widget's title.
    abstract public function render(array $settings): string;
}

function register_widget(Widget $widget): void
{
    Registry::add('widget', $widget->name(), $widget);
}

function render_sidebar(): string
{
    $html = '';
    foreach (get_option('sidebar', []) as $place => $entry) {
        $widget = Registry::find('widget', $entry['widget']);
        if ($widget) {
            $settings = apply_filters('widget_settings', $entry + $widget->defaults(), $widget->name());
            $html .= sprintf("<section id=\"widget-%d\" class=\"widget widget-%s\">\n<h2>%s</h2>\n%s</section>\n",
                $place, esc_attr($widget->name()), esc_html(text($settings['title'])),
                apply_filters('widget_html', $widget->render($settings)));
        }
    }
    return $html;
}

function link_list(array $links): string
{
    $html = "<ul>\n";
    foreach ($links as [$title, $url, $more]) {
        $html .= sprintf("<li><a href=\"%s\">%s</a>%s</li>\n", $url, $title, $more);
    }
    return $html . "</ul>\n";
}

final class Search_Widget extends Widget
{
    public function name(): string
    {
        return 'search';
    }

    public function defaults(): array
    {
        return ['title' => 'Search'];
    }

    public function render(array $settings): string
    {
        return search_form();
    }
}

final class Recent_Posts_Widget extends Widget
{
    public function name(): string
    {
        return 'recent-posts';
    }

    public function defaults(): array
    {
        return ['title' => 'Recent posts', 'count' => 5];
    }

    public function render(array $settings): string
    {
        $links = [];
        foreach (get_posts_by_id(recent_post_ids((int)$settings['count'])) as $post) {
            $links[] = [the_title_of($post), post_link($post), ' <span>' . the_date_of($post) . '</span>'];
        }
        return link_list($links);
    }
}

final class Recent_Comments_Widget extends Widget
{
    public function name(): string
    {
        return 'recent-comments';
    }

    public function defaults(): array
    {
        return ['title' => 'Recent comments', 'count' => 5];
    }

    public function render(array $settings): string
    {
        $links = [];
        foreach (recent_comments((int)$settings['count']) as $comment) {
            $post = get_post((int)$comment['post_id']);
            $links[] = [the_title_of($post), post_link($post) . '#comment-' . $comment['id'], sprintf(
                ': %s, <em>%s</em>', esc_html($comment['author']),
                apply_filters('comment_excerpt', esc_html(trim_words($comment['content'], 8))))];
        }
        return link_list($links);
    }
}

final class Archives_Widget extends Widget
{
    public function name(): string
    {
        return 'archives';
    }

    public function defaults(): array
    {
        return ['title' => 'Archives'];
    }

    public function render(array $settings): string
    {
        $links = [];
        foreach (months_with_posts() as $month => $number) {
            $links[] = [esc_html(text(gmdate('F Y', strtotime("$month-01 UTC")))),
                page_link(['m' => str_replace('-', '', $month)]), " ($number)"];
        }
        return link_list($links);
    }
}

final class Terms_Widget extends Widget
{
    public function name(): string
    {
        return 'terms';
    }

    public function defaults(): array
    {
        return ['title' => 'Categories', 'taxonomy' => 'category', 'count' => 30, 'by_use' => false];
    }

    public function render(array $settings): string
    {
        $links = [];
        foreach (terms_with_posts($settings['taxonomy'], $settings['by_use'], $settings['count']) as $term) {
            $links[] = [esc_html($term['name']), term_link($term), " ({$term['number']})"];
        }
        return link_list($links);
    }
}

final class Authors_Widget extends Widget
{
    public function name(): string
    {
        return 'authors';
    }

    public function defaults(): array
    {
        return ['title' => 'Authors'];
    }

    public function render(array $settings): string
    {
        $links = [];
        $numbers = array_column(posts_by_author(), 'number', 'author_id');
        read_users(array_keys($numbers));
        foreach ($numbers as $id => $number) {
            $links[] = [esc_html(author_name($id)), page_link(['author' => $id]), " ($number)"];
        }
        return link_list($links);
    }
}

add_action('widgets_init', static function (): void {
    foreach ([new Search_Widget(), new Recent_Posts_Widget(), new Recent_Comments_Widget(),
            new Archives_Widget(), new Terms_Widget(), new Authors_Widget()] as $widget) {
        register_widget($widget);
    }
});
