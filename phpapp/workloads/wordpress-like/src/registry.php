<?php
// registry.php - what the library's classes extend, and where they make themselves known:
// block types, groups of settings, types of records.
declare(strict_types=1);

abstract class Block_Type
{
    abstract public function name(): string;

    // Attribute name => ['type' => ..., 'default' => ..., 'values' => optional list].
    abstract public function attributes(): array;

    abstract public function style(): string;

    // The block's HTML: $content is what it has inside, rendered.
    abstract public function render(array $attributes, string $content): string;

    // The given attributes where they are what the type allows, its defaults elsewhere.
    public function prepare(array $given): array
    {
        $prepared = [];
        foreach ($this->attributes() as $name => $wanted) {
            $value = $given[$name] ?? $wanted['default'];
            $fits = gettype($value) === $wanted['type']
                && (!isset($wanted['values']) || in_array($value, $wanted['values'], true));
            $prepared[$name] = $fits ? $value : $wanted['default'];
        }
        return $prepared;
    }
}

abstract class Setting_Group
{
    abstract public function name(): string;

    // Setting name => ['type' => ..., 'default' => ..., 'label' => ..., 'min', 'max'].
    abstract public function settings(): array;

    // A stored value as it may be used.
    abstract public function sanitize(string $name, $value);
}

abstract class Record_Type
{
    abstract public function name(): string;

    abstract public function labels(): array;

    abstract public function capabilities(): array;
}

final class Registry
{
    private static array $entries = [];   // kind => name => entry

    public static function add(string $kind, string $name, $entry): void
    {
        self::$entries[$kind][$name] = $entry;
    }

    // The entry, or null.
    public static function find(string $kind, string $name)
    {
        return self::$entries[$kind][$name] ?? null;
    }

    public static function all(string $kind): array
    {
        return self::$entries[$kind] ?? [];
    }
}

function register_block_type(Block_Type $type): void
{
    Registry::add('block', $type->name(), $type);
    Registry::add('block_attributes', $type->name(),
        apply_filters('block_attributes', $type->attributes(), $type->name()));
}

// Its settings are options from here on: what is stored is sanitized when it is read.
function register_setting_group(Setting_Group $group): void
{
    foreach ($group->settings() as $name => $setting) {
        $option = $group->name() . "_$name";
        Registry::add('setting', $option, text($setting['label']));
        add_filter("option_$option", static function ($value) use ($group, $name) {
            return $group->sanitize($name, $value);
        });
    }
}

function register_record_type(Record_Type $type): void
{
    $labels = array_map('text', $type->labels());
    Registry::add('record', $type->name(), ['labels' => apply_filters('record_labels', $labels),
        'capabilities' => array_fill_keys($type->capabilities(), true)]);
}
