<?php
// generate.php - writes the library: the some 320 files of classes and functions that an
// application of this size includes for every page, most of which a page hardly uses. All
// of it is reachable: block types render what posts are made of, in as many variations as
// they have methods; groups of settings check options; record types have labels; filters
// change texts. The same files on every machine. Used by src/storage.php.
declare(strict_types=1);

// How many files of each kind, and how many methods or functions a file has: from these
// come the files included, the memory that compiling takes, and its time.
const LIBRARY_KINDS = [
    'block' => ['files' => 96, 'parts' => 16],
    'setting' => ['files' => 90, 'parts' => 12],
    'record' => ['files' => 64, 'parts' => 15],
    'filter' => ['files' => 70, 'parts' => 16],
];
const LIBRARY_SEED = 20240108;

const LIBRARY_REMARKS = 9;
const LIBRARY_REMARK_STARTS = ['Needed by', 'Example: it is for', 'Since version 3 it knows',
    'Compare it with', 'Not to be used for', 'The caller has seen to'];
const LIBRARY_REMARK_ENDS = ['as it has been for any', 'unless there is more than one',
    'never without some', 'which comes before every', 'together with what is left of a'];

// The words that names, labels and values are made of.
const LIBRARY_ADJECTIVES = ['amber', 'broad', 'calm', 'dense', 'early', 'faint', 'grand',
    'hollow', 'idle', 'joint', 'keen', 'level', 'mild', 'narrow', 'open', 'plain', 'quiet',
    'round', 'steep', 'tidy'];
const LIBRARY_NOUNS = ['anchor', 'basin', 'cargo', 'deck', 'estuary', 'ferry', 'gangway', 'harbour',
    'inlet', 'jetty', 'keel', 'ledger', 'mooring', 'net', 'oar', 'pier', 'quay', 'rudder', 'sail',
    'tide', 'vessel', 'wharf', 'yard', 'beacon', 'chart', 'dock', 'hull', 'lantern', 'mast', 'rope',
    'signal', 'winch'];

// The methods of a block type that render one variation each; {a} to {d} are words, {i} to
// {k} numbers, {words} and {pairs} the inside of array literals. What a block shows is its
// attributes and its content, the latter rendered already.
const LIBRARY_VARIATIONS = [<<<'PHP'
    // Renders the {a} beside its {b}, as wide as the column allows, with the {c} first
    // where the reader's language runs from right to left.
    //
    // $attributes: What the post says, checked against attributes().
    // $content:    The blocks inside of this one, rendered.
    // Returns HTML.
    private function {name}(array $attributes, string $content): string
    {
        $classes = ['{a}-{b}', 'columns-' . max(1, min({i}, $attributes['columns']))];
        if ($attributes['align'] !== 'none') {
            $classes[] = 'align-' . $attributes['align'];
        }
        if ($attributes['wide'] && $attributes['columns'] > 1) {
            $classes[] = '{c}-wide';
            $content = sprintf('<div class="{a}-inner" data-{d}="%d">%s</div>',
                $attributes['columns'] * {j}, $content);
        }
        foreach ([{pairs}] as $needle => $class) {
            if (strpos($attributes['caption'], $needle) !== false) {
                $classes[] = $class;
            }
        }
        $caption = $attributes['caption'] === '' ? ''
            : '<p class="{d}">' . esc_html($attributes['caption']) . '</p>';
        return sprintf('<div class="%s">%s%s</div>', esc_attr(implode(' ', $classes)), $content,
            $caption);
    }
PHP, <<<'PHP'
    // Renders a {a} whose {b} grows with the {c}: small ones are set in one line, others
    // below each other, and from {k} on the rest is folded away.
    //
    // $attributes: What the post says, checked against attributes().
    // $content:    The blocks inside of this one, rendered.
    // Returns HTML.
    private function {name}(array $attributes, string $content): string
    {
        $length = strlen(strip_tags($content));
        switch (true) {
            case $length === 0:
                return '<hr class="{a} {b}">';
            case $length < {i}:
                $tag = 'p';
                $style = ['margin' => '{j}px 0', 'text-align' => 'center'];
                break;
            case $length < {j}00:
                $tag = $attributes['wide'] ? 'section' : 'div';
                $style = ['padding' => '{k}px', 'border-left' => '2px solid'];
                break;
            default:
                $tag = 'section';
                $style = ['columns' => (string)$attributes['columns'], 'column-gap' => '{i}px'];
        }
        if ($tag === 'p' && strpos($content, '<p') !== false) {
            $tag = 'div';
        }
        $css = '';
        foreach ($style as $property => $value) {
            $css .= $property . ':' . $value . ';';
        }
        return sprintf('<%1$s class="{c}-{d} of-{a}" style="%2$s">%3$s</%1$s>', $tag,
            esc_attr($css), $content);
    }
PHP, <<<'PHP'
    // Renders the {a} with one of the labels that a {b} has, chosen by the caption, and the
    // time that reading it takes at {k} words a minute.
    //
    // $attributes: What the post says, checked against attributes().
    // $content:    The blocks inside of this one, rendered.
    // Returns HTML.
    private function {name}(array $attributes, string $content): string
    {
        $labels = [{words}];
        $chosen = $labels[strlen($attributes['caption']) % count($labels)];
        $minutes = (int)ceil(str_word_count(strip_tags($content)) / (100 + {k}));
        $parts = [];
        if ($attributes['caption'] !== '') {
            $parts[] = '<span class="{c}">' . esc_html($attributes['caption']) . '</span>';
        }
        if ($minutes > {i}) {
            $label = sprintf(text('%d minutes'), $minutes);
            $parts[] = '<span class="{d}">' . esc_html($label) . '</span>';
        } elseif ($attributes['columns'] >= {j}) {
            $parts[] = '<span class="{d} short">' . esc_html(text($chosen)) . '</span>';
        }
        $head = $parts ? '<header class="{a}">' . implode(' ', $parts) . '</header>' : '';
        return '<section class="{a}-' . esc_attr($attributes['align']) . '">' . $head . $content
            . '</section>';
    }
PHP, <<<'PHP'
    // Renders the {a} as a list of what its {b} holds: an entry for every sentence of the
    // caption, numbered where there are more than {i} of them.
    //
    // $attributes: What the post says, checked against attributes().
    // $content:    The blocks inside of this one, rendered.
    // Returns HTML.
    private function {name}(array $attributes, string $content): string
    {
        $entries = preg_split('/(?<=[.;!?])\s+/', $attributes['caption'], {j} + 1,
            PREG_SPLIT_NO_EMPTY);
        $tag = count($entries) > {i} ? 'ol' : 'ul';
        $items = [];
        foreach ($entries as $index => $entry) {
            $class = $index % 2 ? '{c}' : '{d}';
            if ($index === count($entries) - 1 && $attributes['wide']) {
                $class .= ' last-of-{a}';
            }
            $items[] = '<li class="' . $class . '">' . esc_html(rtrim($entry, '.;')) . '</li>';
        }
        if (!$items) {
            return '<div class="{b} without-{a}">' . $content . '</div>';
        }
        $list = "<$tag class=\"{a}-{b}\">" . implode("\n", $items) . "</$tag>";
        return $attributes['align'] === 'right' ? $content . $list : $list . $content;
    }
PHP, <<<'PHP'
    // Renders the {a} between rules, each of the weight that the {b} asks for; where a {c} is
    // in the content, its headings become smaller by one degree.
    //
    // $attributes: What the post says, checked against attributes().
    // $content:    The blocks inside of this one, rendered.
    // Returns HTML.
    private function {name}(array $attributes, string $content): string
    {
        $weights = [{pairs}];
        $weight = $weights[$attributes['caption']] ?? '{d}';
        $smaller = static function (array $match): string {
            return '<' . $match[1] . 'h' . min(6, (int)$match[2] + 1);
        };
        $content = preg_replace_callback('#<(/?)h([2-5])\b#', $smaller, $content);
        $rule = '<hr class="' . esc_attr($weight) . '">';
        $before = $attributes['align'] === 'none' || $attributes['columns'] > {i} ? '' : $rule;
        $after = $attributes['wide'] ? $rule : '';
        if (strlen($content) > {k}000) {
            $after .= '<p class="{a}-end">' . esc_html(text('End of the {b}')) . '</p>';
        }
        return '<div class="{c} {a}">' . $before . $content . $after . '</div>';
    }
PHP];

// What checks a setting's stored value, by what kind of value it is.
const LIBRARY_SANITIZERS = [<<<'PHP'
    // The number of {a} for each {b}: whole, from {i} to {k}00. What is not a number counts as
    // none at all, and gets the smallest that still shows the {c}.
    //
    // $value: What is stored: from a form, from an import, from an older version.
    // Returns The number as it may be used.
    private function {name}($value): int
    {
        if (is_array($value) || $value === null) {
            return {i};
        }
        $number = is_numeric($value) ? (int)round((float)$value) : {i};
        if ($number < {i}) {
            return {i};
        }
        foreach ([{numbers}] as $limit => $step) {
            if ($number <= $limit) {
                return max({i}, intdiv($number, $step) * $step);
            }
        }
        return min({k}00, $number);
    }
PHP, <<<'PHP'
    // The choice of {a} where the {b} may be one of several: by its name, by an older name of
    // it, or by its place in the list, as version {i} stored it.
    //
    // $value: What is stored: from a form, from an import, from an older version.
    // Returns The name of the choice.
    private function {name}($value): string
    {
        $choices = [{words}];
        $renamed = [{pairs}];
        if (is_int($value) || (is_string($value) && ctype_digit($value))) {
            return $choices[(int)$value] ?? $choices[0];
        }
        if (!is_string($value)) {
            return $choices[0];
        }
        $name = strtolower(trim($value));
        if (isset($renamed[$name])) {
            $name = $renamed[$name];
        }
        return in_array($name, $choices, true) ? $name : $choices[count($choices) - 1];
    }
PHP, <<<'PHP'
    // The {a} as a list of words, at most {j}, each once, in the order in which they were
    // given; a {b} that was stored as one text is split at its commas.
    //
    // $value: What is stored: from a form, from an import, from an older version.
    // Returns The words.
    private function {name}($value): array
    {
        if (is_string($value)) {
            $value = preg_split('/\s*,\s*/', $value, -1, PREG_SPLIT_NO_EMPTY);
        } elseif (!is_array($value)) {
            $value = [{words}];
        }
        $words = [];
        foreach ($value as $word) {
            if (!is_scalar($word)) {
                continue;
            }
            $word = esc_name((string)$word);
            if ($word !== '' && !isset($words[$word]) && strlen($word) <= {k}) {
                $words[$word] = $word;
            }
            if (count($words) >= {j}) {
                break;
            }
        }
        return array_values($words);
    }
PHP, <<<'PHP'
    // The {a} as a colour: with six digits, from three, or by the name that a {b} has for
    // it; anything else is the colour of the {c}.
    //
    // $value: What is stored: from a form, from an import, from an older version.
    // Returns The colour, # and six digits.
    private function {name}($value): string
    {
        $known = [{colours}];
        if (!is_string($value)) {
            return current($known);
        }
        $value = strtolower(trim($value));
        if (preg_match('/^#?([0-9a-f]{6})$/', $value, $match)) {
            return '#' . $match[1];
        }
        if (preg_match('/^#?([0-9a-f])([0-9a-f])([0-9a-f])$/', $value, $match)) {
            return '#' . $match[1] . $match[1] . $match[2] . $match[2] . $match[3] . $match[3];
        }
        foreach ($known as $name => $colour) {
            if ($name === $value || strpos($value, $name) === 0) {
                return $colour;
            }
        }
        return end($known);
    }
PHP];

// What a record type says about one record of its kind.
const LIBRARY_DESCRIPTIONS = [<<<'PHP'
    // How a {a} is announced in a list, with its {b} and as many {c}s as there are.
    //
    // $record: The record: title, status, number, and published as a date.
    // Returns Text, not escaped.
    private function {name}(array $record): string
    {
        $states = [{pairs}];
        $state = $states[$record['status']] ?? '{d}';
        $number = max(0, (int)$record['number']);
        if ($number === 0) {
            return sprintf(text('%1$s: no {c} yet (%2$s)'), $record['title'], text($state));
        }
        $form = $number === 1 ? text('%1$s: one {c} (%3$s)') : text('%1$s: %2$d {c}s (%3$s)');
        return sprintf($form, $record['title'], $number, text($state));
    }
PHP, <<<'PHP'
    // When a {a} was last seen at its {b}: as a day where that is long ago, in words where
    // it is not, and never for a {c} that has none.
    //
    // $record: The record: title, status, number, and published as a date.
    // Returns Text, not escaped.
    private function {name}(array $record): string
    {
        $then = strtotime($record['published'] . ' UTC');
        if ($then === false) {
            return text('never at the {b}');
        }
        $days = intdiv(strtotime('2024-12-31 UTC') - $then, 86400);
        foreach ([{numbers}] as $limit => $unit) {
            if ($days < $limit) {
                return sprintf(text('%1$d {c} ago, %2$s'), intdiv(max(0, $days), $unit),
                    $record['title']);
            }
        }
        return gmdate('j F Y', $then) . ', ' . $record['title'];
    }
PHP, <<<'PHP'
    // The columns that a table of {a} has, those of the {b} among them where somebody may
    // see the {c}; {i} at most on a narrow screen.
    //
    // $record: The record: title, status, number, and published as a date.
    // Returns Text, not escaped.
    private function {name}(array $record): string
    {
        $columns = [{pairs}];
        $shown = [];
        foreach ($columns as $column => $value) {
            if ($record['number'] < {i} && count($shown) >= {j}) {
                break;
            }
            if ($record['status'] !== 'publish' && $value === '{d}') {
                continue;
            }
            $shown[] = text(ucfirst($column)) . ': ' . ($record[$column] ?? $value);
        }
        return implode('; ', $shown);
    }
PHP];

// Functions that change a text and are hooked to some kinds of texts.
const LIBRARY_FILTERS = [<<<'PHP'
// Writes {a} and {b} as the house does, wherever a text marks them with an at sign; the {c}
// is left as it is.
//
// $text: The text, HTML.
// Returns The text, HTML.
function {name}(string $text): string
{
    static $spellings = [{spellings}];
    $parts = split_html($text);
    foreach ($parts as $index => $part) {
        if ($index % 2 === 0 && $part !== '') {
            $parts[$index] = strtr($part, $spellings);
        }
    }
    return implode('', $parts);
}
PHP, <<<'PHP'
// Keeps the {a} of a number and the {b} that follows it on one line, {i} of them at most
// in one text: more would be a table of {c}, which has its own way.
//
// $text: The text, HTML.
// Returns The text, HTML.
function {name}(string $text): string
{
    if (strpos($text, ' {a}') === false) {
        return $text;
    }
    $units = implode('|', [{words}]);
    $parts = split_html($text);
    for ($index = 0; $index < count($parts); $index += 2) {
        $parts[$index] = preg_replace("/(\d) (?=($units)s?\b)/", '$1&#160;', $parts[$index], {i});
    }
    return implode('', $parts);
}
PHP, <<<'PHP'
// Whether a {a} belongs to the {b}: by its name, by the beginning of its name, or since
// the {c} says so.
//
// $name: The name.
// Returns What it belongs to, '' where that is nothing.
function {name}_of(string $name): string
{
    $belongs = [{pairs}];
    if (isset($belongs[$name])) {
        return $belongs[$name];
    }
    foreach ($belongs as $beginning => $owner) {
        if (strlen($name) > {i} && strncmp($name, $beginning, {j}) === 0) {
            return $owner;
        }
    }
    return apply_filters('{name}', '', $name);
}

// Marks a {a} by what it belongs to.
//
// $text: The text, HTML.
// Returns The text, HTML.
function {name}(string $text): string
{
    return preg_replace_callback('/\[{d}:(\w+)\]/', static function (array $match): string {
        $owner = {name}_of($match[1]);
        return $owner === '' ? esc_html($match[1])
            : '<span class="' . esc_attr($owner) . '">' . esc_html($match[1]) . '</span>';
    }, $text);
}
PHP];

// The files of the three kinds of classes, around such methods.
const LIBRARY_BLOCK = <<<'PHP'
{head}final class {class} extends Block_Type
{
    private const VARIATIONS = ['{names}'];

    public function name(): string
    {
        return '{entry}';
    }

    public function attributes(): array
    {
        return [
            'variation' => ['type' => 'integer', 'default' => 0],
            'align' => ['type' => 'string', 'default' => 'none',
                'values' => ['none', 'left', 'center', 'right']],
            'columns' => ['type' => 'integer', 'default' => {columns}],
            'wide' => ['type' => 'boolean', 'default' => false],
            'caption' => ['type' => 'string', 'default' => ''],
        ];
    }

    public function style(): string
    {
        return '{css}';
    }

    public function render(array $attributes, string $content): string
    {
        $variation = self::VARIATIONS[$attributes['variation']] ?? self::VARIATIONS[0];
        return '<div class="wl-{entry}">' . $this->$variation($attributes, $content) . '</div>';
    }

{methods}
}

add_action('init', static function (): void {
    register_block_type(new {class}());
});

PHP;

const LIBRARY_SETTING = <<<'PHP'
{head}final class {class} extends Setting_Group
{
    public function name(): string
    {
        return '{group}';
    }

    public function settings(): array
    {
        return [
{settings}
        ];
    }

    public function sanitize(string $name, $value)
    {
        $check = $this->settings()[$name]['check'];
        return $this->$check($value);
    }

{methods}
}

add_action('init', static function (): void {
    register_setting_group(new {class}());
});

PHP;

const LIBRARY_RECORD = <<<'PHP'
{head}final class {class} extends Record_Type
{
    private const DESCRIPTIONS = ['{names}'];

    public function name(): string
    {
        return '{entry}';
    }

    public function labels(): array
    {
        return [
{labels}
        ];
    }

    public function capabilities(): array
    {
        return ['edit-{entry}', 'read-{entry}', 'delete-{entry}', 'publish-{entry}',
            'edit-others-{entry}', 'delete-others-{entry}'];
    }

    public function describe(int $how, array $record): string
    {
        $method = self::DESCRIPTIONS[$how % count(self::DESCRIPTIONS)];
        return $this->$method($record);
    }

{methods}
}

add_action('init', static function (): void {
    register_record_type(new {class}());
});

PHP;
const LIBRARY_LABELS = ['name', 'singular', 'add', 'edit', 'view', 'search', 'none', 'all', 'menu',
    'parent'];

// The texts that filters are hooked to.
const LIBRARY_HOOKS = ['the_content', 'the_title', 'the_excerpt', 'comment_text', 'the_terms'];

// The name of the entry of that number: pairs of an adjective and a noun, in an order that
// differs from kind to kind. What is in the blog names block types by it.
function library_entry_name(string $kind, int $number): string
{
    $place = $number * 7 + strlen($kind) * 131;
    return LIBRARY_ADJECTIVES[$place % count(LIBRARY_ADJECTIVES)] . '-'
        . LIBRARY_NOUNS[intdiv($place, count(LIBRARY_ADJECTIVES)) % count(LIBRARY_NOUNS)]
        . "-$number";
}

final class Library_Generator
{
    private string $directory;
    private Random $random;

    public function __construct(string $directory)
    {
        $this->directory = $directory;
        $this->random = new Random(LIBRARY_SEED);
    }

    public function write(): void
    {
        $load = self::head('load', 'includes the library.');
        foreach (LIBRARY_KINDS as $kind => $size) {
            for ($number = 0; $number < $size['files']; $number++) {
                $name = library_entry_name($kind, $number);
                $this->put("$kind-$name.php", $this->$kind($name, $size['parts']));
                $load .= "require __DIR__ . '/$kind-$name.php';\n";
            }
        }
        $this->put('load.php', $load);
    }

    // As old as the generator: OPcache leaves out what was written in the last seconds.
    private function put(string $file, string $text): void
    {
        if (file_put_contents("$this->directory/$file", $text) !== strlen($text)
            || !touch("$this->directory/$file", filemtime(__FILE__))) {
            workload_refuse(500, 'The library could not be written into the data directory: is its '
                . 'disk full?');
        }
    }

    private static function head(string $file, string $what): string
    {
        return "<?php\n// $file.php - $what Written by generate.php.\n"
            . "declare(strict_types=1);\n\n";
    }

    // ---- one file of each kind -----------------------------------------------

    private function block(string $name, int $parts): string
    {
        [$methods, $names] = $this->parts(LIBRARY_VARIATIONS, $parts, 'as');
        return strtr(LIBRARY_BLOCK, $this->head_slots('block', $name, $methods)
            + ['{names}' => implode("', '", $names), '{css}' => $this->css($name),
                '{columns}' => (string)$this->random->between(1, 4)]);
    }

    private function setting(string $name, int $parts): string
    {
        [$methods, $names] = $this->parts(LIBRARY_SANITIZERS, $parts, 'checked');
        $settings = '';
        foreach ($names as $index => $method) {
            $settings .= "            's$index' => ['type' => "
                . "'{$this->random->one(['number', 'choice', 'list'])}', 'check' => '$method',\n"
                . "                'default' => '{$this->random->one(LIBRARY_NOUNS)}', 'label' => "
                . "'The {$this->two_words()} of the {$this->random->one(LIBRARY_NOUNS)}'],\n";
        }
        return strtr(LIBRARY_SETTING, $this->head_slots('setting', $name, $methods)
            + ['{group}' => str_replace('-', '_', $name), '{settings}' => rtrim($settings)]);
    }

    private function record(string $name, int $parts): string
    {
        [$methods, $names] = $this->parts(LIBRARY_DESCRIPTIONS, $parts, 'described');
        $labels = '';
        foreach (LIBRARY_LABELS as $label) {
            $labels .= "            '$label' => '" . ucfirst($label) . " {$this->two_words()}',\n";
        }
        return strtr(LIBRARY_RECORD, $this->head_slots('record', $name, $methods)
            + ['{names}' => implode("', '", $names), '{labels}' => rtrim($labels)]);
    }

    private function filter(string $name, int $parts): string
    {
        [$functions, $names] = $this->parts(LIBRARY_FILTERS, $parts, str_replace('-', '_', $name));
        $hooks = '';
        foreach ($names as $function) {
            $hooks .= "add_filter('{$this->random->one(LIBRARY_HOOKS)}', '$function', "
                . "{$this->random->between(5, 40)});\n";
        }
        return self::head("filter-$name", 'functions that change texts, and where.')
            . implode("\n\n", $functions) . "\n\n$hooks";
    }

    // What the file of every class begins with, and its methods.
    private function head_slots(string $kind, string $name, array $methods): array
    {
        return ['{head}' => self::head("$kind-$name", "a $kind and its parts."), '{entry}' => $name,
            '{class}' => ucwords(str_replace('-', '_', "$kind-$name"), '_'),
            '{methods}' => implode("\n\n", $methods)];
    }

    // ---- their parts -----------------------------------------------------------

    // [the texts of $count parts made from the patterns in turn, their names].
    private function parts(array $patterns, int $count, string $prefix): array
    {
        $texts = $names = [];
        for ($number = 0; $number < $count; $number++) {
            $names[] = $name = "{$prefix}_{$this->two_words('_')}_$number";
            $pattern = $patterns[$number % count($patterns)];
            $texts[] = $this->remarks(str_repeat(' ', strspn($pattern, ' ')))
                . strtr($pattern, ['{name}' => $name] + $this->slots());
        }
        return [$texts, $names];
    }

    // Comment lines: applications of this kind have as much of them as of code.
    private function remarks(string $indent): string
    {
        $text = '';
        for ($line = 0; $line < LIBRARY_REMARKS; $line++) {
            $text .= "$indent// " . $this->random->one(LIBRARY_REMARK_STARTS)
                . " the {$this->two_words()} and its {$this->random->one(LIBRARY_NOUNS)}, "
                . $this->random->one(LIBRARY_REMARK_ENDS) . " {$this->two_words()}.\n";
        }
        return $text . "$indent//\n";
    }

    private function slots(): array
    {
        [$a, $b, $c, $d] = $this->random->some(LIBRARY_NOUNS, 4);
        return ['{a}' => $a, '{b}' => $b, '{c}' => $c, '{d}' => $d,
            '{i}' => (string)$this->random->between(2, 9),
            '{j}' => (string)$this->random->between(3, 12),
            '{k}' => (string)$this->random->between(20, 90),
            '{words}' => "'" . implode("', '", $this->random->some(LIBRARY_NOUNS, 8)) . "'",
            '{pairs}' => $this->pairs('', LIBRARY_NOUNS, 8, function (): string {
                return $this->random->one(LIBRARY_ADJECTIVES);
            }),
            '{spellings}' => $this->pairs('@', LIBRARY_NOUNS, 8, function (): string {
                return ucfirst($this->random->one(LIBRARY_NOUNS));
            }),
            '{colours}' => $this->pairs('', LIBRARY_ADJECTIVES, 6, function (): string {
                return sprintf('#%06x', $this->random->between(0, 0xffffff));
            }),
            '{numbers}' => '7 => 1, 28 => 2, 63 => 3, 112 => 4, 175 => 5, 252 => 6'];
    }

    // 'key' => 'value', ... for so many of the keys.
    private function pairs(string $prefix, array $keys, int $count, callable $value): string
    {
        $pairs = [];
        foreach ($this->random->some($keys, $count) as $key) {
            $pairs[] = "'$prefix$key' => '{$value()}'";
        }
        return implode(', ', $pairs);
    }

    private function two_words(string $between = ' '): string
    {
        return $this->random->one(LIBRARY_ADJECTIVES) . $between
            . $this->random->one(LIBRARY_NOUNS);
    }

    private function css(string $name): string
    {
        $class = ".wl-$name";
        return implode("\n", [
            sprintf("$class { margin: %dpx 0; padding: %dpx; border-radius: %dpx; }",
                $this->random->between(4, 24), $this->random->between(0, 16),
                $this->random->between(0, 8)),
            sprintf("$class header { font-variant: small-caps; color: #%06x; }",
                $this->random->between(0, 0x7fffff)),
            "$class .align-right { text-align: right; }",
            sprintf("$class hr { border-color: #%06x; }", $this->random->between(0, 0xffffff))]);
    }
}

function generate_library(string $directory): void
{
    mkdir($directory, 0755);
    (new Library_Generator($directory))->write();
}
