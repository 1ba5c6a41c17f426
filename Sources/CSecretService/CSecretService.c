#include "CSecretService.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

/* The parts of libsecret's and GLib's interface that are used, as their documentation describes them.
   https://gnome.pages.gitlab.gnome.org/libsecret/ */
typedef struct {
    const char *name;
    int type;
} secret_attribute;

typedef struct {
    const char *name;
    int flags;
    secret_attribute attributes[32];
    int reserved;
    void *reserved1, *reserved2, *reserved3, *reserved4, *reserved5, *reserved6, *reserved7;
} secret_schema;

typedef struct {
    unsigned domain;
    int code;
    char *message;
} g_error;

/* SECRET_SCHEMA_ATTRIBUTE_STRING is 0 and SECRET_SCHEMA_NONE is 0. */
static const secret_schema schema = {
    .name = "org.parseplatform.ParseSwift",
    .flags = 0,
    .attributes = {{"service", 0}, {"application", 0}, {"account", 0}, {NULL, 0}},
};

static int (*secret_store)(const secret_schema *, void *attributes, const char *collection,
                           const char *label, const char *password, void *cancellable, g_error **);
static char *(*secret_lookup)(const secret_schema *, void *attributes, void *cancellable, g_error **);
static int (*secret_clear)(const secret_schema *, void *attributes, void *cancellable, g_error **);
static void (*secret_free)(char *);
static void *(*table_new)(void *hash, void *equal);
static int (*table_insert)(void *table, void *key, void *value);
static void (*table_unref)(void *table);
static void *string_hash;
static void *string_equal;
static void (*error_free)(g_error *);

static int is_loaded;

static martlet_secret_result load(void);

martlet_secret_result martlet_secret_load(void) {
    /* Several threads may be the first; without the library each call looks again. */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    martlet_secret_result result = is_loaded ? MARTLET_SECRET_OK : load();
    pthread_mutex_unlock(&lock);
    return result;
}

static martlet_secret_result load(void) {
    void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return MARTLET_SECRET_NO_LIBRARY;
    }
    /* The library's own dependencies are searched as well, so GLib's functions are found through it. */
    struct {
        void **variable;
        const char *name;
    } symbols[] = {
        {(void **)&secret_store, "secret_password_storev_sync"},
        {(void **)&secret_lookup, "secret_password_lookupv_sync"},
        {(void **)&secret_clear, "secret_password_clearv_sync"},
        {(void **)&secret_free, "secret_password_free"},
        {(void **)&table_new, "g_hash_table_new"},
        {(void **)&table_insert, "g_hash_table_insert"},
        {(void **)&table_unref, "g_hash_table_unref"},
        {&string_hash, "g_str_hash"},
        {&string_equal, "g_str_equal"},
        {(void **)&error_free, "g_error_free"},
    };
    for (size_t index = 0; index < sizeof symbols / sizeof symbols[0]; index++) {
        void *symbol = dlsym(library, symbols[index].name);
        if (!symbol) {
            return MARTLET_SECRET_NO_LIBRARY;
        }
        *symbols[index].variable = symbol;
    }
    /* Never closed: GLib does not survive being unloaded. */
    is_loaded = 1;
    return MARTLET_SECRET_OK;
}

static void *attributes_of(martlet_secret_name name) {
    void *table = table_new(string_hash, string_equal);
    table_insert(table, (void *)"service", (void *)name.service);
    table_insert(table, (void *)"application", (void *)name.application);
    table_insert(table, (void *)"account", (void *)name.account);
    return table;
}

/* Whether there is an error; its message is copied and the error freed. */
static int take_error(g_error *found, char *error, unsigned long error_size) {
    if (!found) {
        return 0;
    }
    if (error && error_size > 0) {
        strncpy(error, found->message ? found->message : "", error_size - 1);
        error[error_size - 1] = 0;
    }
    error_free(found);
    return 1;
}

martlet_secret_result martlet_secret_store(martlet_secret_name name, const char *label, const char *secret,
                                           char *error, unsigned long error_size) {
    if (martlet_secret_load() != MARTLET_SECRET_OK) {
        return MARTLET_SECRET_NO_LIBRARY;
    }
    g_error *found = NULL;
    void *attributes = attributes_of(name);
    int is_stored = secret_store(&schema, attributes, "default", label, secret, NULL, &found);
    table_unref(attributes);
    int has_error = take_error(found, error, error_size);
    return is_stored && !has_error ? MARTLET_SECRET_OK : MARTLET_SECRET_FAILED;
}

martlet_secret_result martlet_secret_lookup(martlet_secret_name name, char **secret, char *error,
                                            unsigned long error_size) {
    *secret = NULL;
    if (martlet_secret_load() != MARTLET_SECRET_OK) {
        return MARTLET_SECRET_NO_LIBRARY;
    }
    g_error *found = NULL;
    void *attributes = attributes_of(name);
    *secret = secret_lookup(&schema, attributes, NULL, &found);
    table_unref(attributes);
    return take_error(found, error, error_size) ? MARTLET_SECRET_FAILED : MARTLET_SECRET_OK;
}

martlet_secret_result martlet_secret_clear(martlet_secret_name name, char *error, unsigned long error_size) {
    if (martlet_secret_load() != MARTLET_SECRET_OK) {
        return MARTLET_SECRET_NO_LIBRARY;
    }
    g_error *found = NULL;
    void *attributes = attributes_of(name);
    secret_clear(&schema, attributes, NULL, &found);
    table_unref(attributes);
    return take_error(found, error, error_size) ? MARTLET_SECRET_FAILED : MARTLET_SECRET_OK;
}

void martlet_secret_free(char *secret) {
    /* secret_password_free overwrites the memory first. */
    if (secret && is_loaded) {
        secret_free(secret);
    }
}
