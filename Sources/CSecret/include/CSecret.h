#pragma once

// GIO, opened when a keyring is first needed, libgcrypt when a secret is first read from one, and libsecret when one is
// first changed.
//
// Most answers need no keyring, and loading these libraries takes longer than all the rest of such an answer. The
// functions have their own names and types and only pass calls on; what opens their library must have succeeded before.
// script/lint compiles CSecret.c against the libraries' own headers, which checks every declaration.

/// Opens GIO, once; NULL if it is open, else what is wrong.
const char *lanyard_gio_open(void);

/// Opens libgcrypt and prepares it, once; NULL if it is open, else what is wrong.
const char *lanyard_gcrypt_open(void);

/// Opens libsecret, once; NULL where it is open, else what is wrong.
const char *lanyard_secret_open(void);

#include <stddef.h>
#include <stdint.h>

#ifdef LANYARD_SYSTEM_HEADERS
#include <gcrypt.h>
#include <libsecret/secret.h>
#undef g_str_equal
#undef g_strdup
#else

// Hidden: calls from within libsecret must not come to this file.
#pragma GCC visibility push(hidden)

// MARK: - GLib

typedef char gchar;
typedef int gint;
typedef int gboolean;
typedef unsigned int guint;
typedef unsigned long gsize;
typedef signed long gssize;
typedef uint32_t GQuark;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef gsize GType;
typedef void (*GDestroyNotify)(gpointer data);
typedef guint (*GHashFunc)(gconstpointer key);
typedef gboolean (*GEqualFunc)(gconstpointer one, gconstpointer other);

typedef struct _GHashTable GHashTable;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;
typedef struct _GCancellable GCancellable;
typedef struct _GDBusConnection GDBusConnection;

typedef struct _GError {
    GQuark domain;
    gint code;
    gchar *message;
} GError;

typedef struct _GLogField GLogField;
typedef struct _GObject GObject;
typedef enum { G_LOG_LEVEL_DEBUG = 1 << 7 } GLogLevelFlags;
typedef enum { G_LOG_WRITER_HANDLED = 1, G_LOG_WRITER_UNHANDLED = 0 } GLogWriterOutput;
typedef GLogWriterOutput (*GLogWriterFunc)(
    GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data);

typedef struct _GAsyncResult GAsyncResult;
typedef struct _GMainContext GMainContext;
typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, gpointer data);

typedef enum { G_DBUS_CALL_FLAGS_NONE = 0 } GDBusCallFlags;
typedef enum { G_BUS_TYPE_SESSION = 2 } GBusType;

void g_free(gpointer memory);
gchar *g_strdup(const gchar *text);
void g_error_free(GError *error);
const gchar *g_quark_to_string(GQuark quark);
void g_log_set_writer_func(GLogWriterFunc function, gpointer data, GDestroyNotify free_data);

guint g_str_hash(gconstpointer text);
gboolean g_str_equal(gconstpointer one, gconstpointer other);
GHashTable *g_hash_table_new_full(
    GHashFunc hash, GEqualFunc equal, GDestroyNotify free_key, GDestroyNotify free_value);
gboolean g_hash_table_insert(GHashTable *table, gpointer key, gpointer value);
void g_hash_table_unref(GHashTable *table);

GVariant *g_variant_new_string(const gchar *text);
GVariant *g_variant_new_object_path(const gchar *path);
GVariant *g_variant_new_variant(GVariant *value);
GVariant *g_variant_new_array(const GVariantType *type, GVariant *const *children, gsize count);
GVariant *g_variant_new_fixed_array(
    const GVariantType *type, gconstpointer elements, gsize count, gsize element_size);
GVariant *g_variant_new_dict_entry(GVariant *key, GVariant *value);
GVariant *g_variant_new_tuple(GVariant *const *children, gsize count);
GVariant *g_variant_get_child_value(GVariant *value, gsize index);
gsize g_variant_n_children(GVariant *value);
const gchar *g_variant_get_type_string(GVariant *value);
const gchar *g_variant_get_string(GVariant *value, gsize *length);
gconstpointer g_variant_get_fixed_array(GVariant *value, gsize *count, gsize element_size);
gboolean g_variant_get_boolean(GVariant *value);
uint32_t g_variant_get_uint32(GVariant *value);
uint64_t g_variant_get_uint64(GVariant *value);
void g_variant_unref(GVariant *value);

void g_object_unref(gpointer object);
GCancellable *g_cancellable_new(void);
void g_cancellable_cancel(GCancellable *cancellable);
void g_cancellable_reset(GCancellable *cancellable);
GDBusConnection *g_bus_get_sync(GBusType type, GCancellable *cancellable, GError **error);
void g_dbus_connection_set_exit_on_close(GDBusConnection *connection, gboolean exits);
void g_dbus_connection_call(
    GDBusConnection *connection, const gchar *bus_name, const gchar *object_path, const gchar *interface,
    const gchar *method, GVariant *parameters, const GVariantType *reply, GDBusCallFlags flags, gint milliseconds,
    GCancellable *cancellable, GAsyncReadyCallback callback, gpointer data);
GVariant *g_dbus_connection_call_finish(GDBusConnection *connection, GAsyncResult *result, GError **error);
GMainContext *g_main_context_new(void);
void g_main_context_push_thread_default(GMainContext *context);
void g_main_context_pop_thread_default(GMainContext *context);
gboolean g_main_context_iteration(GMainContext *context, gboolean may_block);
void g_main_context_unref(GMainContext *context);

// MARK: - libgcrypt

typedef unsigned int gcry_error_t;
typedef struct gcry_mpi *gcry_mpi_t;
typedef struct gcry_cipher_handle *gcry_cipher_hd_t;

enum gcry_mpi_format { GCRYMPI_FMT_USG = 5 };
enum gcry_random_level { GCRY_STRONG_RANDOM = 1 };
enum gcry_cipher_algos { GCRY_CIPHER_AES = 7 };
enum gcry_cipher_modes { GCRY_CIPHER_MODE_CBC = 3 };
enum gcry_ctl_cmds {
    GCRYCTL_INIT_SECMEM = 24,
    GCRYCTL_DISABLE_SECMEM_WARN = 27,
    GCRYCTL_INITIALIZATION_FINISHED = 38,
    GCRYCTL_INITIALIZATION_FINISHED_P = 39
};

gcry_error_t gcry_control(enum gcry_ctl_cmds command, ...);
const char *gcry_check_version(const char *wanted);
gcry_mpi_t gcry_mpi_new(unsigned int bits);
gcry_mpi_t gcry_mpi_snew(unsigned int bits);
gcry_error_t gcry_mpi_scan(
    gcry_mpi_t *number, enum gcry_mpi_format format, const void *bytes, size_t length, size_t *scanned);
gcry_error_t gcry_mpi_print(
    enum gcry_mpi_format format, unsigned char *bytes, size_t length, size_t *written, gcry_mpi_t number);
void gcry_mpi_randomize(gcry_mpi_t number, unsigned int bits, enum gcry_random_level level);
void gcry_mpi_powm(gcry_mpi_t power, gcry_mpi_t base, gcry_mpi_t exponent, gcry_mpi_t modulus);
int gcry_mpi_cmp(gcry_mpi_t one, gcry_mpi_t other);
int gcry_mpi_cmp_ui(gcry_mpi_t one, unsigned long other);
void gcry_mpi_sub_ui(gcry_mpi_t difference, gcry_mpi_t minuend, unsigned long subtrahend);
void gcry_mpi_release(gcry_mpi_t number);
gcry_error_t gcry_cipher_open(gcry_cipher_hd_t *handle, int algorithm, int mode, unsigned int flags);
gcry_error_t gcry_cipher_setkey(gcry_cipher_hd_t handle, const void *key, size_t length);
gcry_error_t gcry_cipher_setiv(gcry_cipher_hd_t handle, const void *iv, size_t length);
gcry_error_t gcry_cipher_decrypt(
    gcry_cipher_hd_t handle, void *output, size_t output_length, const void *input, size_t input_length);
void gcry_cipher_close(gcry_cipher_hd_t handle);

// MARK: - libsecret

typedef struct _SecretService SecretService;
typedef struct _SecretCollection SecretCollection;
typedef struct _SecretItem SecretItem;
typedef struct _SecretValue SecretValue;
typedef struct _SecretSchema SecretSchema;

typedef enum { SECRET_SERVICE_NONE = 0 } SecretServiceFlags;
typedef enum { SECRET_COLLECTION_NONE = 0 } SecretCollectionFlags;
typedef enum { SECRET_COLLECTION_CREATE_NONE = 0 } SecretCollectionCreateFlags;
typedef enum { SECRET_ITEM_NONE = 0 } SecretItemFlags;
typedef enum { SECRET_ITEM_CREATE_NONE = 0 } SecretItemCreateFlags;

GType secret_service_get_type(void);
SecretService *secret_service_open_sync(
    GType type, const gchar *bus_name, SecretServiceFlags flags, GCancellable *cancellable, GError **error);
gint secret_service_unlock_dbus_paths_sync(
    SecretService *service, const gchar **paths, GCancellable *cancellable, gchar ***unlocked, GError **error);
gboolean secret_service_store_sync(
    SecretService *service, const SecretSchema *schema, GHashTable *attributes, const gchar *collection,
    const gchar *label, SecretValue *value, GCancellable *cancellable, GError **error);
gboolean secret_service_delete_item_dbus_path_sync(
    SecretService *service, const gchar *item, GCancellable *cancellable, GError **error);

SecretCollection *secret_collection_for_alias_sync(
    SecretService *service, const gchar *alias, SecretCollectionFlags flags, GCancellable *cancellable,
    GError **error);
SecretCollection *secret_collection_create_sync(
    SecretService *service, const gchar *label, const gchar *alias, SecretCollectionCreateFlags flags,
    GCancellable *cancellable, GError **error);

SecretItem *secret_item_new_for_dbus_path_sync(
    SecretService *service, const gchar *item, SecretItemFlags flags, GCancellable *cancellable, GError **error);
SecretItem *secret_item_create_sync(
    SecretCollection *collection, const SecretSchema *schema, GHashTable *attributes, const gchar *label,
    SecretValue *value, SecretItemCreateFlags flags, GCancellable *cancellable, GError **error);
gboolean secret_item_set_secret_sync(
    SecretItem *item, SecretValue *value, GCancellable *cancellable, GError **error);

SecretValue *secret_value_new(const gchar *secret, gssize length, const gchar *content_type);
void secret_value_unref(gpointer value);

#pragma GCC visibility pop
#endif
