/* compat.h - where the interface of PHP differs between 7.4 and 8.6. No other file of the extension
 * asks for PHP's version: a line here says from which version to which each form holds.
 */
#ifndef MPMSTAT_PHP_COMPAT_H
#define MPMSTAT_PHP_COMPAT_H

#include <php.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zend_exceptions.h>
#include <zend_extensions.h>
#include <zend_ini.h>

#if PHP_VERSION_ID >= 80100   /* fibers are there from 8.1 on */
#define MST_HAS_FIBERS 1
#include <zend_fibers.h>
#endif
#if PHP_VERSION_ID >= 80000   /* observers are there from 8.0 on */
#include <zend_observer.h>
#endif

/* ---- types ------------------------------------------------------------------------------- */

#if PHP_VERSION_ID >= 80000
typedef zend_result mst_startup_result;   /* from 8.0: what zend_post_startup_cb returns */
#else
typedef int mst_startup_result;           /* 7.4 */
#endif

/* MST_RAISE(FLAG) sets EG(vm_interrupt) of any thread. */
#if PHP_VERSION_ID >= 80200
typedef zend_atomic_bool mst_interrupt_flag;   /* from 8.2 */
#define MST_RAISE(flag) zend_atomic_bool_store(flag, true)
#elif PHP_VERSION_ID >= 80000
typedef bool mst_interrupt_flag;               /* 8.0 and 8.1 */
#define MST_RAISE(flag) __atomic_store_n(flag, true, __ATOMIC_RELAXED)
#else
typedef zend_bool mst_interrupt_flag;          /* 7.4 */
#define MST_RAISE(flag) __atomic_store_n(flag, 1, __ATOMIC_RELAXED)
#endif

/* ---- settings ---------------------------------------------------------------------------- */

/* The setting's text, or NULL. Up to 8.5 the function takes and returns char *, from 8.6 on const
 * char *. The macros INI_STR() and INI_INT() are there up to 8.5. */
static inline const char *mst_ini_text(const char *name)
{
    return zend_ini_string_ex((char *)name, strlen(name), 0, NULL);
}

/* The setting's number; 0: there is none. Up to 7.4 the name is a char *. */
static inline zend_long mst_ini_number(const char *name)
{
    return zend_ini_long((char *)name, strlen(name), 0);
}

/* Reads a number with K, M or G, and does not warn of a malformed one. */
static inline zend_long mst_ini_quantity(zend_string *text)
{
#if PHP_VERSION_ID >= 80200   /* from 8.2: zend_atol() is deprecated */
    zend_string *complaint = NULL;
    zend_long value = zend_ini_parse_quantity(text, &complaint);

    if (complaint)
        zend_string_release(complaint);
    return value;
#else                         /* 7.4 to 8.1 */
    return zend_atol(ZSTR_VAL(text), ZSTR_LEN(text));
#endif
}

/* ---- scripts and calls ------------------------------------------------------------------- */

static inline const char *mst_file_name(const zend_file_handle *file)
{
#if PHP_VERSION_ID >= 80100
    return file->filename ? ZSTR_VAL(file->filename) : "";   /* from 8.1 */
#else
    return file->filename ? file->filename : "";             /* 7.4 and 8.0 */
#endif
}

/* A function of PHP's own, or NULL where there is none, or disable_functions has it: from 8.0 on it
 * is gone then (a script's can have its name); in 7.4 one without arguments stands in its place,
 * which warns. */
static inline zend_function *mst_own_function(const char *name)
{
    zend_function *f = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));

    return f && f->type == ZEND_INTERNAL_FUNCTION && f->internal_function.arg_info ? f : NULL;
}

/* Calls it; zend_call_known_function() is there from 8.0 on. False: it has no result. */
static inline bool mst_call_own(zend_function *f, zval *result, uint32_t count, zval *parameters)
{
    zend_fcall_info call = { .size = sizeof call, .retval = result, .params = parameters,
                             .param_count = count };
    zend_fcall_info_cache cache = { .function_handler = f };

    ZVAL_UNDEF(result);
    ZVAL_UNDEF(&call.function_name);
    return zend_call_function(&call, &cache) == SUCCESS && Z_TYPE_P(result) != IS_UNDEF;
}

/* Whether what has been thrown ends the script without an error: exit(). */
static inline bool mst_is_exit(zend_object *thrown)
{
#if PHP_VERSION_ID >= 80000
    return zend_is_unwind_exit(thrown);   /* from 8.0: exit() throws */
#else
    (void)thrown;                         /* 7.4 */
    return false;
#endif
}

/* A slot in functions' reserved[], or -1. */
static inline int mst_resource_handle(void)
{
#if PHP_VERSION_ID >= 80000
    return zend_get_resource_handle("mpmstat");   /* from 8.0 */
#else
    static zend_extension owner;                  /* 7.4 */

    return zend_get_resource_handle(&owner);
#endif
}

/* ---- errors ------------------------------------------------------------------------------ */

/* The parameters of what sees errors, and the same as arguments of what saw them before. */
#if PHP_VERSION_ID >= 80100   /* from 8.1 */
#define MST_ERROR_PARAMETERS int type, zend_string *file, uint32_t line, zend_string *message
#define MST_ERROR_ARGUMENTS  type, file, line, message
#elif PHP_VERSION_ID >= 80000 /* 8.0 */
#define MST_ERROR_PARAMETERS int type, const char *file, uint32_t line, zend_string *message
#define MST_ERROR_ARGUMENTS  type, file, line, message
#else                         /* 7.4 */
#define MST_ERROR_PARAMETERS \
    int type, const char *file, const uint32_t line, const char *format, va_list arguments
#define MST_ERROR_ARGUMENTS  type, file, line, format, arguments
#endif
typedef void mst_see_error(MST_ERROR_PARAMETERS);

/* Lets `see` see all errors, and tells which function it has to call in turn; NULL: none. */
static inline mst_see_error *mst_watch_errors(mst_see_error *see)
{
#if PHP_VERSION_ID >= 80000   /* from 8.0: any number of functions see them */
    zend_observer_error_register(see);
    return NULL;
#else                         /* 7.4: one function, which calls the one before */
    mst_see_error *next = zend_error_cb;

    zend_error_cb = see;
    return next;
#endif
}

static inline void mst_unwatch_errors(mst_see_error *see, mst_see_error *next)
{
#if PHP_VERSION_ID >= 80000   /* from 8.0 PHP forgets them itself */
    (void)see, (void)next;
#else                         /* 7.4 */
    if (zend_error_cb == see)
        zend_error_cb = next;
#endif
}

#endif
