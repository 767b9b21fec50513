<?php
// seed.php - makes the tables and fills the blog: always the same text, authors and
// dates. Used by src/storage.php for SQLite and MariaDB alike.
declare(strict_types=1);

require_once __DIR__ . '/generate.php';

const SEED = 20240311;
const SEED_POSTS = 40;
const SEED_COMMENTS = 3;       // on each post but the newest
const SEED_STICKY = 45;        // the post that stays on top: the fourth newest by its date
const SEED_OPTIONS = 900;      // settings of the library that are stored

const SEED_TABLES = [
    'options' => 'name VARCHAR(190) PRIMARY KEY, value LONGTEXT NOT NULL, autoload INTEGER NOT NULL',
    'posts' => '{id}, kind VARCHAR(20) NOT NULL, status VARCHAR(20) NOT NULL, title TEXT NOT NULL,
        content LONGTEXT NOT NULL, excerpt TEXT NOT NULL, author_id INTEGER NOT NULL,
        published VARCHAR(19) NOT NULL, menu_order INTEGER NOT NULL, comment_count INTEGER NOT NULL',
    'postmeta' => '{id}, post_id INTEGER NOT NULL, name VARCHAR(190) NOT NULL, value LONGTEXT NOT NULL',
    'terms' => '{id}, taxonomy VARCHAR(32) NOT NULL, slug VARCHAR(190) NOT NULL,
        name VARCHAR(190) NOT NULL, number INTEGER NOT NULL',
    'termmeta' => '{id}, term_id INTEGER NOT NULL, name VARCHAR(190) NOT NULL, value LONGTEXT NOT NULL',
    'term_posts' => 'term_id INTEGER NOT NULL, post_id INTEGER NOT NULL, PRIMARY KEY (term_id, post_id)',
    'users' => '{id}, login VARCHAR(60) NOT NULL, name VARCHAR(190) NOT NULL',
    'usermeta' => '{id}, user_id INTEGER NOT NULL, name VARCHAR(190) NOT NULL, value LONGTEXT NOT NULL',
    'comments' => '{id}, post_id INTEGER NOT NULL, author TEXT NOT NULL, email TEXT NOT NULL,
        url TEXT NOT NULL, content TEXT NOT NULL, published VARCHAR(19) NOT NULL, visitor INTEGER NOT NULL',
];

const SEED_INDEXES = [
    'posts' => ['kind, status, published'], 'postmeta' => ['post_id'], 'terms' => ['taxonomy, number'],
    'termmeta' => ['term_id'], 'term_posts' => ['post_id'], 'usermeta' => ['user_id'],
    'comments' => ['post_id, published', 'published'],
];

const SEED_OPENINGS = ['In the morning', 'By the time of the second bell', 'Nobody had said so, but',
    'As far as anyone remembers', 'Two days later', 'On the north side', 'Before the season ended',
    'For all that', 'When the wind turned', 'It is told that'];
const SEED_SUBJECTS = ['the pilot', 'a crew of "seven or eight"', 'the harbour office', 'the older of the two ferries',
    'everyone on the quay', 'the keeper of the light', "the captain's brother", 'a clerk with a wooden ruler',
    'the whole town', 'our neighbour'];
const SEED_VERBS = ['counted', 'repaired', 'forgot', 'painted', 'wrote down', 'carried away', "couldn't find",
    'had promised', 'sold', 'kept'];
const SEED_OBJECTS = ['the ropes', 'three crates of lamps', 'the map of the shallows', 'a 12" gauge', 'the last letter',
    'the spare anchor', 'two nets -- both torn', 'what was left of the coal', 'the register', 'a clock that ran slow'];
const SEED_ENDINGS = ['without a word', 'and went home', 'as if it were nothing...', 'for the third time that year',
    'and nobody asked why', 'although it rained', "since it wasn't theirs", 'at a quarter past four',
    'in the order in which they came', 'and that was that'];

final class Seeder
{
    private PDO $connection;
    private Random $random;
    private int $next_post = 1;

    public function __construct(PDO $connection)
    {
        $this->connection = $connection;
        $this->random = new Random(SEED);
    }

    public function run(): void
    {
        $this->make_tables();
        $this->connection->beginTransaction();
        $this->users();
        $terms = $this->terms();
        $pictures = $this->pictures();
        for ($number = 1; $number <= SEED_POSTS; $number++) {
            $this->post($number, $terms, $pictures);
        }
        $this->pages_and_menu();
        $this->connection->exec('UPDATE wl_terms SET number = (SELECT COUNT(*) FROM wl_term_posts
            WHERE term_id = wl_terms.id)');
        $this->options();
        $this->connection->commit();
    }

    private function make_tables(): void
    {
        $id = $this->connection->getAttribute(PDO::ATTR_DRIVER_NAME) === 'sqlite'
            ? 'id INTEGER PRIMARY KEY AUTOINCREMENT' : 'id INTEGER PRIMARY KEY AUTO_INCREMENT';
        foreach (SEED_TABLES as $table => $columns) {
            $this->connection->exec("DROP TABLE IF EXISTS wl_$table");
            $this->connection->exec("CREATE TABLE wl_$table (" . str_replace('{id}', $id, $columns) . ')');
        }
        foreach (SEED_INDEXES as $table => $indexes) {
            foreach ($indexes as $number => $columns) {
                $this->connection->exec("CREATE INDEX wl_{$table}_$number ON wl_$table ($columns)");
            }
        }
    }

    private function insert(string $table, array $row): int
    {
        $marks = implode(', ', array_fill(0, count($row), '?'));
        $this->connection->prepare("INSERT INTO wl_$table (" . implode(', ', array_keys($row)) . ") VALUES ($marks)")
            ->execute(array_values($row));
        return (int)$this->connection->lastInsertId();
    }

    private function users(): void
    {
        foreach (['Ada Quill', 'Bento Reyes', 'Clara Voss', 'Dmitri Hale'] as $name) {
            $id = $this->insert('users', ['login' => strtolower(strtok($name, ' ')), 'name' => $name]);
            $meta = ['about' => $this->sentence(), 'colour' => $this->colour(), 'roles' => '["author"]'];
            foreach ($meta as $key => $value) {
                $this->insert('usermeta', ['user_id' => $id, 'name' => $key, 'value' => $value]);
            }
        }
    }

    // Taxonomy => ids.
    private function terms(): array
    {
        $names = ['category' => ['Boats', 'Letters', 'Weather', 'People', 'Repairs', 'Travels'],
            'tag' => ['anchor', 'beacon', 'cargo', 'deck', 'ferry', 'harbour', 'inlet', 'keel', 'lantern', 'mast',
                'net', 'oar', 'pier', 'rope', 'sail', 'tide'],
            'menu' => ['main']];
        $ids = [];
        foreach ($names as $taxonomy => $list) {
            foreach ($list as $name) {
                $ids[$taxonomy][] = $id = $this->insert('terms', ['taxonomy' => $taxonomy,
                    'slug' => strtolower($name), 'name' => $name, 'number' => 0]);
                $this->insert('termmeta', ['term_id' => $id, 'name' => 'colour', 'value' => $this->colour()]);
            }
        }
        return $ids;
    }

    private function pictures(): array
    {
        $ids = [];
        for ($number = 1; $number <= 8; $number++) {
            $title = "Picture $number: " . $this->random->one(SEED_OBJECTS);
            $ids[] = $id = $this->post_row('attachment', $title, '', $number);
            $this->meta($id, ['width' => '1200', 'height' => (string)$this->random->between(400, 800),
                'colour' => $this->colour()]);
        }
        return $ids;
    }

    private function post(int $number, array $terms, array $pictures): void
    {
        $title = ucfirst($this->random->one(SEED_SUBJECTS)) . ' ' . $this->random->one(SEED_VERBS) . ' '
            . $this->random->one(SEED_OBJECTS);
        $id = $this->post_row('post', $title, $this->content(), $number, $number % 3 ? '' : $this->sentence());
        $this->meta($id, ['views' => (string)$this->random->between(10, 9000), 'layout' => 'plain']
            + ($number % 2 ? ['picture' => (string)$this->random->one($pictures)] : []));
        $chosen = array_merge($this->random->some($terms['category'], $this->random->between(1, 2)),
            $this->random->some($terms['tag'], $this->random->between(2, 4)));
        foreach ($chosen as $term) {
            $this->insert('term_posts', ['term_id' => $term, 'post_id' => $id]);
        }
        for ($comment = 1; $comment <= SEED_COMMENTS && $number < SEED_POSTS; $comment++) {
            $this->comment($id, $number, $comment);
        }
    }

    private function post_row(string $kind, string $title, string $content, int $number,
        string $excerpt = ''): int
    {
        return $this->insert('posts', ['kind' => $kind, 'status' => $kind === 'attachment' ? 'inherit' : 'publish',
            'title' => $title, 'content' => $content, 'excerpt' => $excerpt,
            'author_id' => $this->random->between(1, 4), 'published' => self::day($number, 8),
            'menu_order' => $kind === 'menu_item' ? $number : 0,
            'comment_count' => $kind === 'post' && $number < SEED_POSTS ? SEED_COMMENTS : 0]);
    }

    private function meta(int $id, array $values): void
    {
        foreach ($values as $name => $value) {
            $this->insert('postmeta', ['post_id' => $id, 'name' => $name, 'value' => $value]);
        }
    }

    private function comment(int $post_id, int $number, int $comment): void
    {
        $name = $this->random->one(['Ines', 'Jonas', 'Kaya', 'Lars', 'Mina', 'Noor', 'Otis', 'Petra']);
        $this->insert('comments', ['post_id' => $post_id, 'author' => $name,
            'email' => strtolower($name) . '@example.org',
            'url' => $comment === 1 ? 'https://' . strtolower($name) . '.example.org/' : '',
            'content' => $this->sentence() . "\n\n" . $this->sentence(),
            'published' => self::day($number, 10 + $comment), 'visitor' => 0]);
    }

    // The first is of January 2022; one every nine days.
    private static function day(int $number, int $hour): string
    {
        return gmdate('Y-m-d H:i:s', 1641168000 + $number * 9 * 86400 + $hour * 3600);
    }

    private function pages_and_menu(): void
    {
        $menu = (int)$this->connection->query("SELECT id FROM wl_terms WHERE taxonomy = 'menu'")->fetchColumn();
        $targets = [0];
        foreach (['About', 'Contact', 'Imprint'] as $number => $title) {
            $targets[] = $this->post_row('page', $title, $this->content(), $number + 1);
        }
        foreach ($targets as $order => $target) {
            $item = $this->post_row('menu_item', '', '', $order + 1);
            $this->meta($item, ['target' => (string)$target]);
            $this->insert('term_posts', ['term_id' => $menu, 'post_id' => $item]);
        }
    }

    // Options that are read on every page, settings of the library, and those that are
    // asked for one by one. The last one says that the blog is complete.
    private function options(): void
    {
        $sidebar = [['widget' => 'search'], ['widget' => 'recent-posts'], ['widget' => 'recent-comments'],
            ['widget' => 'archives'], ['widget' => 'terms'],
            ['widget' => 'authors'],
            ['widget' => 'terms', 'title' => 'Tags', 'taxonomy' => 'tag', 'count' => 12, 'by_use' => true]];
        $options = ['blog_name' => "The harbour's notebook",
            'blog_description' => 'What the tide brought, and who "kept" it',
            'posts_per_page' => '10', 'posts_in_feed' => '10', 'date_format' => 'F j, Y',
            'sticky_posts' => json_encode([SEED_STICKY]), 'sidebar' => json_encode($sidebar)];
        for ($number = 0; $number < SEED_OPTIONS; $number++) {
            $group = library_entry_name('setting', $number % LIBRARY_KINDS['setting']['files']);
            $setting = intdiv($number, LIBRARY_KINDS['setting']['files']);
            $options[str_replace('-', '_', $group) . "_s$setting"] = $this->random->one([
                (string)$this->random->between(0, 5000), $this->random->one(LIBRARY_NOUNS),
                implode(',', $this->random->some(LIBRARY_NOUNS, 4)), $this->colour()]);
        }
        $asked = ['blog_footer' => 'Written on paper first', 'theme_colours' => '{"ink":"#1b2a33","paper":"#f4f1ea"}',
            'front_note' => $this->sentence()];
        foreach ($options + $asked + ['seeded' => '1'] as $name => $value) {
            $this->insert('options', ['name' => $name, 'value' => $value, 'autoload' => isset($asked[$name]) ? 0 : 1]);
        }
    }

    // ---- text ------------------------------------------------------------------

    private function content(): string
    {
        $blocks = [];
        for ($number = 0; $number < 5; $number++) {
            $blocks[] = $this->block("<p>{$this->paragraph()}</p>");
        }
        array_splice($blocks, 2, 0, ["<h3>{$this->random->one(SEED_OPENINGS)}</h3>"]);
        array_splice($blocks, 4, 0, [$this->block($this->block("<p>{$this->sentence()}</p>"))]);
        return implode("\n\n", $blocks);
    }

    private function block(string $html): string
    {
        $name = library_entry_name('block', $this->random->between(0, 11));
        $attributes = ['variation' => $this->random->between(0, LIBRARY_KINDS['block']['parts'] - 1),
            'align' => $this->random->one(['none', 'left', 'right']), 'columns' => $this->random->between(1, 3),
            'wide' => $this->random->between(0, 1) === 1, 'caption' => $this->random->one(['', $this->sentence()])];
        return "<!-- block:$name " . json_encode($attributes, JSON_HEX_TAG) . " -->\n$html\n<!-- /block:$name -->";
    }

    private function paragraph(): string
    {
        return implode(' ', [$this->sentence(), $this->sentence(), $this->sentence()]);
    }

    private function sentence(): string
    {
        return $this->random->one(SEED_OPENINGS) . ', ' . $this->random->one(SEED_SUBJECTS) . ' '
            . $this->random->one(SEED_VERBS) . ' ' . $this->random->one(SEED_OBJECTS) . ' '
            . $this->random->one(SEED_ENDINGS) . '.';
    }

    private function colour(): string
    {
        return sprintf('#%06x', $this->random->between(0, 0xffffff));
    }
}

function seed_blog(PDO $connection): void
{
    (new Seeder($connection))->run();
}
