<?php
// request.php - what is asked for, from the query string: which view, which part of it.
// Everything is bounded; what is not as it should be is a 400 with a sentence.
declare(strict_types=1);

const ID_MAX = 2000000000;
const PAGE_MAX = 100000;
const SEARCH_LONGEST = 100;

// The parameter that says which view => the view.
const VIEWS = ['p' => 'single', 'page_id' => 'single', 'cat' => 'term', 'tag' => 'term', 'author' => 'author',
    'm' => 'month', 's' => 'search', 'feed' => 'feed'];

// view: front, single, term, author, month, search or feed; id, text or month of what is
// shown; page: of a list, from 1.
function parse_request(): array
{
    workload_only_parameters('paged', ...array_keys(VIEWS));
    $asked = array_intersect_key(VIEWS, $_GET);
    if (count($asked) > 1) {
        workload_refuse(400, 'Of these parameters one should be given, or none: '
            . implode(', ', array_keys(VIEWS)) . '.');
    }
    if (!in_array($_SERVER['REQUEST_METHOD'], ['GET', 'HEAD', 'POST'], true)) {
        header('Allow: GET, HEAD, POST');
        workload_refuse(405, 'The method should be GET, HEAD or POST.');
    }
    $name = (string)key($asked);
    $request = ['view' => $asked[$name] ?? 'front', 'by' => $name, 'id' => 0, 'text' => '',
        'page' => workload_integer('paged', 1, 1, PAGE_MAX)];
    switch ($request['view']) {
        case 'front':
            break;
        case 'search':
            $request['text'] = trim(workload_text('s', SEARCH_LONGEST));
            break;
        case 'feed':
            $request['text'] = checked_feed();
            break;
        case 'month':
            $request['id'] = checked_month();
            break;
        default:
            $request['id'] = workload_integer($name, 0, 1, ID_MAX);
    }
    return apply_filters('request', $request);
}

// A year and its month: of any other number the title would be another month's.
function checked_month(): int
{
    $month = workload_integer('m', 0, 190001, 299912);
    if ($month % 100 < 1 || $month % 100 > 12) {
        workload_refuse(400, 'The parameter m should be a year and a month from 01 to 12, as 202203.');
    }
    return $month;
}

function checked_feed(): string
{
    if ($_GET['feed'] !== 'rss2') {
        workload_refuse(400, 'The parameter feed should be rss2.');
    }
    return 'rss2';
}

// The address of a view of this blog, for an attribute or a header: from numbers and
// names of our own, so that nothing in it needs escaping but the ampersand.
function page_link(array $parameters): string
{
    $query = $parameters ? '?' . http_build_query($parameters, '', '&amp;') : '';
    return apply_filters('page_link', blog_path() . $query);
}

// The path of the front controller, as the browser asked for it.
function blog_path(): string
{
    return Cache::get('request', 'path', static function (): string {
        $path = preg_replace('#index\.php$#', '', (string)($_SERVER['SCRIPT_NAME'] ?? '/'));
        return esc_attr(preg_replace('#[^A-Za-z0-9/._~-]#', '', $path));
    });
}
