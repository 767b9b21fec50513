/* check_components.c - what a file of PHP's code belongs to, and which function of a call stack is
 * named. */
#include <string.h>

#include "harness.h"
#include "read/call_place.h"

static const struct { const char *file, *name; bool is_base; } files[] = {
    { "/usr/share/wordpress/wp-content/plugins/akismet/akismet.php", "plugins/akismet", false },
    { "/srv/wp-content/plugins/shop/vendor/guzzlehttp/guzzle/src/A.php", "plugins/shop", false },
    { "wp-content/plugins/hello.php", "plugins/hello.php", false },
    { "/srv/wp-content/mu-plugins/a.php", "mu-plugins/a.php", false },
    { "/srv/wp-content/themes/twenty/index.php", "themes/twenty", false },
    { "/usr/share/wordpress/wp-includes/class-wpdb.php", "WordPress", true },
    { "/usr/share/wordpress/wp-settings.php", "WordPress", true },
    { "/srv/app/vendor/guzzlehttp/guzzle/src/Client.php", "vendor/guzzlehttp/guzzle", true },
    { "/srv/app/vendor/autoload.php", "vendor/autoload.php", true },
    { "/srv/app/vendor/composer/ClassLoader.php", "vendor/composer", true },
    { "/srv/web/modules/contrib/views/src/V.php", "modules/views", false },
    { "/srv/web/core/modules/node/src/Node.php", "core/modules/node", true },
    { "/srv/web/core/lib/Drupal/Core/Database/Statement.php", "Drupal", true },
    { "/var/www/nextcloud/apps/files/lib/A.php", "apps/files", false },
    { "/var/www/moodle/mod/quiz/view.php", "mod/quiz", false },
    { "/var/lib/mediawiki/extensions/Cite/src/Cite.php", "extensions/Cite", false },
    { "/usr/share/php/Symfony/Component/Yaml/Parser.php", "php/Symfony", true },
    { "/srv/app/src/Repository.php", "/srv/app/src", false },
    { "/my-vendor/x/y/z.php", "/my-vendor/x/y", false },   /* not a part of the path */
    { "/index.php", "/", false },
    { "index.php", "", false },
    { "", "", false },
    { "vendor/", "vendor/", true },
    { "vendor/a", "vendor/a", true },
    { "/srv/wp-content/plugins/", "plugins/", false },
    /* Files of the applications' own trees, in the directories of their images or packages. */
    { "/var/www/html/apps/files/lib/Controller/ViewController.php", "apps/files", false },
    { "/var/www/html/custom_apps/deck/lib/Service/CardService.php", "apps/deck", false },
    { "/var/www/html/lib/private/Files/Cache/Cache.php", "Nextcloud", true },
    { "/var/www/html/mod/quiz/accessrule/password/rule.php", "mod/quiz", false },
    { "/var/www/html/blocks/html/block_html.php", "blocks/html", false },
    { "/usr/share/roundcube/plugins/enigma/lib/enigma_engine.php", "plugins/enigma", false },
    { "/var/www/html/extensions/Cite/src/ReferenceStack.php", "extensions/Cite", false },
    { "/usr/share/dokuwiki/lib/plugins/usermanager/admin.php", "plugins/usermanager", false },
    { "/srv/d7/sites/all/modules/views/plugins/views_plugin_query.inc", "modules/views", false },
    { "/srv/apps/shop/src/Cart.php", "apps/shop", false },
    { "/srv/site/plugins/one.php", "/srv/site/plugins", false },
    { "/srv/web/node_modules/x/y.php", "/srv/web/node_modules/x", false },
};

START_TEST(a_file_belongs_to_a_component)
{
    struct mst_component component;
    size_t i;

    for (i = 0; i < sizeof files / sizeof *files; i++) {
        mst_component_of(&component, files[i].file);
        ck_assert_str_eq(component.name, files[i].name);
        ck_assert_int_eq(component.is_base, files[i].is_base);
    }
}
END_TEST

#define CORE   "/srv/wp-includes/class-wpdb.php"
#define PLUGIN "/srv/wp-content/plugins/shop/shop.php"
#define MAIN   "/srv/index.php"

/* The functions are numbered from the innermost one on. -1: none is named. */
static int named(const char *const *files_of, size_t count)
{
    struct mst_call_choice choice = { 0 };
    uint64_t function;
    size_t i;

    for (i = 0; i < count; i++)
        mst_call_choose(&choice, i, files_of[i]);
    return mst_call_chosen(&choice, &function) ? (int)function : -1;
}
#define NAMED(...) named((const char *const[]){ __VA_ARGS__ }, \
                         sizeof (const char *const[]){ __VA_ARGS__ } / sizeof (char *))

START_TEST(the_applications_own_code_is_named)
{
    ck_assert_int_eq(NAMED("", CORE, CORE, PLUGIN, CORE, MAIN), 3);
    ck_assert_int_eq(NAMED("", CORE, CORE, MAIN), 1);   /* it only calls what does all */
    ck_assert_int_eq(NAMED("", "/srv/lib.php", MAIN), 1);
    ck_assert_int_eq(NAMED("", MAIN), 1);
    ck_assert_int_eq(NAMED("", CORE), 1);
    ck_assert_int_eq(NAMED(""), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("components");
    TCase *rules = tcase_create("rules");

    tcase_add_test(rules, a_file_belongs_to_a_component);
    tcase_add_test(rules, the_applications_own_code_is_named);
    suite_add_tcase(suite, rules);
    return test_run(suite);
}
