#define _GNU_SOURCE
#include "CSecret.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    const char *name;
    void *handle;
} Library;

// The functions of GLib and GObject are found through GIO, which depends on them.
static Library libgio = {.name = "libgio-2.0.so.0"};
static Library libgcrypt = {.name = "libgcrypt.so.20"};
static Library libsecret = {.name = "libsecret-1.so.0"};

static const char *open_library(Library *library) {
    if (library->handle == NULL) library->handle = dlopen(library->name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    return library->handle != NULL ? NULL : dlerror();
}

static void *resolve(const Library *library, const char *name) {
    void *function = library->handle == NULL ? NULL : dlsym(library->handle, name);
    if (function == NULL) {
        // GLib has them all since 2.50, libgcrypt since 1.6, libsecret since 0.18, so this is a broken installation.
        fprintf(stderr, "lanyard: error: %s has no %s\n", library->name, name);
        abort();
    }
    return function;
}

// Threads that come here at the same time find the same function.
#define FORWARD_TO(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS)                        \
    RESULT NAME PARAMETERS {                                                            \
        static __typeof__(&NAME) _Atomic real;                                          \
        if (real == NULL) real = (__typeof__(&NAME))resolve(&LIBRARY, #NAME);           \
        return real ARGUMENTS;                                                          \
    }

#define FORWARD_GIO(RESULT, NAME, PARAMETERS, ARGUMENTS) FORWARD_TO(libgio, RESULT, NAME, PARAMETERS, ARGUMENTS)
#define FORWARD_GCRYPT(RESULT, NAME, PARAMETERS, ARGUMENTS) FORWARD_TO(libgcrypt, RESULT, NAME, PARAMETERS, ARGUMENTS)
#define FORWARD_SECRET(RESULT, NAME, PARAMETERS, ARGUMENTS) FORWARD_TO(libsecret, RESULT, NAME, PARAMETERS, ARGUMENTS)

FORWARD_GIO(void, g_free, (gpointer memory), (memory))
FORWARD_GIO(gchar *, g_strdup, (const gchar *text), (text))
FORWARD_GIO(void, g_error_free, (GError *error), (error))
FORWARD_GIO(const gchar *, g_quark_to_string, (GQuark quark), (quark))
FORWARD_GIO(void, g_log_set_writer_func, (GLogWriterFunc function, gpointer data, GDestroyNotify free_data), (function,
    data, free_data))
FORWARD_GIO(guint, g_str_hash, (gconstpointer text), (text))
FORWARD_GIO(gboolean, g_str_equal, (gconstpointer one, gconstpointer other), (one, other))
FORWARD_GIO(GHashTable *, g_hash_table_new_full, ( GHashFunc hash, GEqualFunc equal, GDestroyNotify free_key,
    GDestroyNotify free_value), (hash, equal, free_key, free_value))
FORWARD_GIO(gboolean, g_hash_table_insert, (GHashTable *table, gpointer key, gpointer value), (table, key, value))
FORWARD_GIO(void, g_hash_table_unref, (GHashTable *table), (table))
FORWARD_GIO(GVariant *, g_variant_new_string, (const gchar *text), (text))
FORWARD_GIO(GVariant *, g_variant_new_object_path, (const gchar *path), (path))
FORWARD_GIO(GVariant *, g_variant_new_variant, (GVariant *value), (value))
FORWARD_GIO(GVariant *, g_variant_new_array, (const GVariantType *type, GVariant *const *children, gsize count), (type,
    children, count))
FORWARD_GIO(GVariant *, g_variant_new_fixed_array, (const GVariantType *type, gconstpointer elements, gsize count, gsize
    element_size), (type, elements, count, element_size))
FORWARD_GIO(GVariant *, g_variant_new_dict_entry, (GVariant *key, GVariant *value), (key, value))
FORWARD_GIO(GVariant *, g_variant_new_tuple, (GVariant *const *children, gsize count), (children, count))
FORWARD_GIO(GVariant *, g_variant_get_child_value, (GVariant *value, gsize index), (value, index))
FORWARD_GIO(gsize, g_variant_n_children, (GVariant *value), (value))
FORWARD_GIO(const gchar *, g_variant_get_type_string, (GVariant *value), (value))
FORWARD_GIO(const gchar *, g_variant_get_string, (GVariant *value, gsize *length), (value, length))
FORWARD_GIO(gconstpointer, g_variant_get_fixed_array, (GVariant *value, gsize *count, gsize element_size), (value, count,
    element_size))
FORWARD_GIO(gboolean, g_variant_get_boolean, (GVariant *value), (value))
FORWARD_GIO(uint32_t, g_variant_get_uint32, (GVariant *value), (value))
FORWARD_GIO(uint64_t, g_variant_get_uint64, (GVariant *value), (value))
FORWARD_GIO(void, g_variant_unref, (GVariant *value), (value))
FORWARD_GIO(void, g_object_unref, (gpointer object), (object))
FORWARD_GIO(GCancellable *, g_cancellable_new, (void), ())
FORWARD_GIO(void, g_cancellable_cancel, (GCancellable *cancellable), (cancellable))
FORWARD_GIO(void, g_cancellable_reset, (GCancellable *cancellable), (cancellable))
FORWARD_GIO(GDBusConnection *, g_bus_get_sync, (GBusType type, GCancellable *cancellable, GError **error), (type,
    cancellable, error))
FORWARD_GIO(void, g_dbus_connection_set_exit_on_close, (GDBusConnection *connection, gboolean exits), (connection, exits))
FORWARD_GIO(void, g_dbus_connection_call, ( GDBusConnection *connection, const gchar *bus_name, const gchar *object_path,
    const gchar *interface, const gchar *method, GVariant *parameters, const GVariantType *reply, GDBusCallFlags
    flags, gint milliseconds, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data), (connection,
    bus_name, object_path, interface, method, parameters, reply, flags, milliseconds, cancellable, callback, data))
FORWARD_GIO(GVariant *, g_dbus_connection_call_finish, (GDBusConnection *connection, GAsyncResult *result, GError **error),
    (connection, result, error))
FORWARD_GIO(GMainContext *, g_main_context_new, (void), ())
FORWARD_GIO(void, g_main_context_push_thread_default, (GMainContext *context), (context))
FORWARD_GIO(void, g_main_context_pop_thread_default, (GMainContext *context), (context))
FORWARD_GIO(gboolean, g_main_context_iteration, (GMainContext *context, gboolean may_block), (context, may_block))
FORWARD_GIO(void, g_main_context_unref, (GMainContext *context), (context))
FORWARD_GCRYPT(const char *, gcry_check_version, (const char *wanted), (wanted))
FORWARD_GCRYPT(gcry_mpi_t, gcry_mpi_new, (unsigned int bits), (bits))
FORWARD_GCRYPT(gcry_mpi_t, gcry_mpi_snew, (unsigned int bits), (bits))
FORWARD_GCRYPT(gcry_error_t, gcry_mpi_scan, (gcry_mpi_t *number, enum gcry_mpi_format format, const void *bytes, size_t
    length, size_t *scanned), (number, format, bytes, length, scanned))
FORWARD_GCRYPT(gcry_error_t, gcry_mpi_print, (enum gcry_mpi_format format, unsigned char *bytes, size_t length, size_t
    *written, gcry_mpi_t number), (format, bytes, length, written, number))
FORWARD_GCRYPT(void, gcry_mpi_randomize, (gcry_mpi_t number, unsigned int bits, enum gcry_random_level level), (number, bits,
    level))
FORWARD_GCRYPT(void, gcry_mpi_powm, (gcry_mpi_t power, gcry_mpi_t base, gcry_mpi_t exponent, gcry_mpi_t modulus), (power,
    base, exponent, modulus))
FORWARD_GCRYPT(int, gcry_mpi_cmp, (gcry_mpi_t one, gcry_mpi_t other), (one, other))
FORWARD_GCRYPT(int, gcry_mpi_cmp_ui, (gcry_mpi_t one, unsigned long other), (one, other))
FORWARD_GCRYPT(void, gcry_mpi_sub_ui, (gcry_mpi_t difference, gcry_mpi_t minuend, unsigned long subtrahend), (difference,
    minuend, subtrahend))
FORWARD_GCRYPT(void, gcry_mpi_release, (gcry_mpi_t number), (number))
FORWARD_GCRYPT(gcry_error_t, gcry_cipher_open, (gcry_cipher_hd_t *handle, int algorithm, int mode, unsigned int flags),
    (handle, algorithm, mode, flags))
FORWARD_GCRYPT(gcry_error_t, gcry_cipher_setkey, (gcry_cipher_hd_t handle, const void *key, size_t length), (handle, key,
    length))
FORWARD_GCRYPT(gcry_error_t, gcry_cipher_setiv, (gcry_cipher_hd_t handle, const void *iv, size_t length), (handle, iv,
    length))
FORWARD_GCRYPT(gcry_error_t, gcry_cipher_decrypt, (gcry_cipher_hd_t handle, void *output, size_t output_length, const void
    *input, size_t input_length), (handle, output, output_length, input, input_length))
FORWARD_GCRYPT(void, gcry_cipher_close, (gcry_cipher_hd_t handle), (handle))
FORWARD_SECRET(GType, secret_service_get_type, (void), ())
FORWARD_SECRET(SecretService *, secret_service_open_sync, (GType type, const gchar *bus_name, SecretServiceFlags flags,
    GCancellable *cancellable, GError **error), (type, bus_name, flags, cancellable, error))
FORWARD_SECRET(gint, secret_service_unlock_dbus_paths_sync, ( SecretService *service, const gchar **paths, GCancellable
    *cancellable, gchar ***unlocked, GError **error), (service, paths, cancellable, unlocked, error))
FORWARD_SECRET(gboolean, secret_service_store_sync, ( SecretService *service, const SecretSchema *schema, GHashTable
    *attributes, const gchar *collection, const gchar *label, SecretValue *value, GCancellable *cancellable, GError
    **error), (service, schema, attributes, collection, label, value, cancellable, error))
FORWARD_SECRET(gboolean, secret_service_delete_item_dbus_path_sync, ( SecretService *service, const gchar *item, GCancellable
    *cancellable, GError **error), (service, item, cancellable, error))
FORWARD_SECRET(SecretCollection *, secret_collection_for_alias_sync, ( SecretService *service, const gchar *alias,
    SecretCollectionFlags flags, GCancellable *cancellable, GError **error), (service, alias, flags, cancellable,
    error))
FORWARD_SECRET(SecretCollection *, secret_collection_create_sync, ( SecretService *service, const gchar *label, const gchar
    *alias, SecretCollectionCreateFlags flags, GCancellable *cancellable, GError **error), (service, label, alias,
    flags, cancellable, error))
FORWARD_SECRET(SecretItem *, secret_item_new_for_dbus_path_sync, ( SecretService *service, const gchar *item, SecretItemFlags
    flags, GCancellable *cancellable, GError **error), (service, item, flags, cancellable, error))
FORWARD_SECRET(SecretItem *, secret_item_create_sync, ( SecretCollection *collection, const SecretSchema *schema, GHashTable
    *attributes, const gchar *label, SecretValue *value, SecretItemCreateFlags flags, GCancellable *cancellable,
    GError **error), (collection, schema, attributes, label, value, flags, cancellable, error))
FORWARD_SECRET(gboolean, secret_item_set_secret_sync, ( SecretItem *item, SecretValue *value, GCancellable *cancellable,
    GError **error), (item, value, cancellable, error))
FORWARD_SECRET(SecretValue *, secret_value_new, (const gchar *secret, gssize length, const gchar *content_type), (secret,
    length, content_type))
FORWARD_SECRET(void, secret_value_unref, (gpointer value), (value))

static void prepare_gcrypt(void) {
    __typeof__(&gcry_control) control = (__typeof__(&gcry_control))resolve(&libgcrypt, "gcry_control");
    gcry_check_version(NULL);
    // libsecret may have done the rest.
    if (control(GCRYCTL_INITIALIZATION_FINISHED_P)) return;
    // Where memory can't be locked it is used all the same, and nothing is said on stderr, which belongs to the person.
    control(GCRYCTL_DISABLE_SECMEM_WARN);
    control(GCRYCTL_INIT_SECMEM, 16384, 0);
    control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

const char *lanyard_gio_open(void) { return open_library(&libgio); }

const char *lanyard_gcrypt_open(void) {
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    const char *problem = open_library(&libgcrypt);
    if (problem == NULL) pthread_once(&prepared, prepare_gcrypt);
    return problem;
}

const char *lanyard_secret_open(void) { return open_library(&libsecret); }
