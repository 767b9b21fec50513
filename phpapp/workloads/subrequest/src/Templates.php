<?php
// Templates.php - renders a template with variables. In a template $view is this object:
// it escapes, and it renders blocks.
declare(strict_types=1);

namespace Subrequest;

final class Templates
{
    private string $directory;
    private Fragments $fragments;

    public function __construct(string $directory, Fragments $fragments)
    {
        $this->directory = $directory;
        $this->fragments = $fragments;
    }

    public function render(string $name, array $variables): string
    {
        ob_start();
        try {
            (static function (string $file, Templates $view, array $with): void {
                require $file;
            })("$this->directory/$name.php", $this, $variables);
            return (string)ob_get_contents();
        } finally {
            ob_end_clean();
        }
    }

    public function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }

    public function block(int $level, int $number, array $query): string
    {
        return $this->fragments->render('block', ['level' => $level, 'number' => $number], $query);
    }
}
