#ifndef CSECRETSERVICE_H
#define CSECRETSERVICE_H

/* The Secret Service (GNOME Keyring, KWallet and others) by way of libsecret, which is looked for at run
   time: a program that links this needs no libsecret, neither to build nor to start.

   Every call may block for as long as the service likes to (up to a minute was seen). Calls must not
   overlap. Strings are UTF-8 and end with a zero byte. */

typedef enum {
    MARTLET_SECRET_OK = 0,
    /* libsecret is missing, or lacks a function. */
    MARTLET_SECRET_NO_LIBRARY = 1,
    /* The service refused: no bus, no service, locked, … */
    MARTLET_SECRET_FAILED = 2,
} martlet_secret_result;

/* Which secret is meant. */
typedef struct {
    const char *service;
    const char *application;
    const char *account;
} martlet_secret_name;

/* Loads libsecret once; cheap afterwards. */
martlet_secret_result martlet_secret_load(void);

/* Stores a secret in the default collection, over an older one of the same name. On failure a message is
   put into `error`, which has room for `error_size` bytes. */
martlet_secret_result martlet_secret_store(martlet_secret_name name, const char *label, const char *secret,
                                           char *error, unsigned long error_size);

/* Looks a secret up. `*secret` is NULL when there is none, or when the collection is locked: the service
   does not tell these apart. Otherwise it is freed by martlet_secret_free. */
martlet_secret_result martlet_secret_lookup(martlet_secret_name name, char **secret, char *error,
                                            unsigned long error_size);

/* Removes a secret; that there is none is no failure. */
martlet_secret_result martlet_secret_clear(martlet_secret_name name, char *error, unsigned long error_size);

/* Frees what a lookup gave, after overwriting it. */
void martlet_secret_free(char *secret);

#endif
