#pragma once

// GLib and libsecret, opened when a keyring or the session bus is first needed.
//
// Most answers need neither, and loading the libraries takes longer than all the rest of such an answer. The functions have
// their own names and types and only pass calls on; lanyard_secret_open or lanyard_bus_open must have succeeded before.
// script/lint compiles CGLib.c against the libraries' own headers, which checks every declaration.

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef LANYARD_SYSTEM_HEADERS
#define SECRET_API_SUBJECT_TO_CHANGE
#include <libsecret/secret.h>
#undef g_free
#undef g_object_ref
#undef g_strdup
#undef g_str_equal
#else

// GLib
typedef char gchar;
typedef int gint;
typedef int gboolean;
typedef unsigned int guint;
typedef unsigned long gsize;
typedef signed long gssize;
typedef uint32_t GQuark;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef void (*GDestroyNotify)(gpointer data);
typedef guint (*GHashFunc)(gconstpointer key);
typedef gboolean (*GEqualFunc)(gconstpointer one, gconstpointer other);
typedef struct _GHashTable GHashTable;
typedef struct _GMainContext GMainContext;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;

typedef struct _GError {
    GQuark domain;
    gint code;
    gchar *message;
} GError;

typedef struct _GLogField GLogField;
typedef enum { G_LOG_LEVEL_DEBUG = 1 << 7 } GLogLevelFlags;
typedef enum { G_LOG_WRITER_HANDLED = 1, G_LOG_WRITER_UNHANDLED = 0 } GLogWriterOutput;
typedef GLogWriterOutput (*GLogWriterFunc)(
    GLogLevelFlags level, const GLogField *fields, gsize count, gpointer data);

// GObject
typedef gsize GType;
typedef struct _GObject GObject;
typedef struct _GTypeInstance GTypeInstance;
typedef struct _GObjectConstructParam GObjectConstructParam;
typedef enum { G_TYPE_FLAG_NONE = 0 } GTypeFlags;
typedef void (*GClassInitFunc)(gpointer type_class, gpointer data);
typedef void (*GInstanceInitFunc)(GTypeInstance *instance, gpointer type_class);

typedef struct _GTypeQuery {
    GType type;
    const gchar *type_name;
    guint class_size;
    guint instance_size;
} GTypeQuery;

// The beginning of GLib's structure.
typedef struct _GObjectClass {
    GType type;
    void *construct_properties;
    GObject *(*constructor)(GType type, guint count, GObjectConstructParam *properties);
} GObjectClass;

// GIO
typedef struct _GAsyncResult GAsyncResult;
typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, gpointer data);
typedef struct _GCancellable GCancellable;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GDBusProxy GDBusProxy;
typedef enum { G_BUS_TYPE_SESSION = 2 } GBusType;
typedef enum { G_DBUS_CALL_FLAGS_NONE = 0 } GDBusCallFlags;
typedef enum { G_DBUS_SIGNAL_FLAGS_NONE = 0 } GDBusSignalFlags;
typedef void (*GDBusSignalCallback)(
    GDBusConnection *connection, const gchar *sender, const gchar *object_path, const gchar *interface,
    const gchar *signal, GVariant *parameters, gpointer data);
typedef enum {
    G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1 << 0,
    G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 1 << 3
} GDBusConnectionFlags;
typedef enum {
    G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES = 1 << 0,
    G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS = 1 << 1,
    G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION = 1 << 4,
    G_DBUS_PROXY_FLAGS_NO_MATCH_RULE = 1 << 5
} GDBusProxyFlags;

// libsecret
typedef struct _SecretService SecretService;
typedef struct _SecretValue SecretValue;
typedef struct _SecretSchema SecretSchema;
typedef enum { SECRET_SERVICE_NONE = 0 } SecretServiceFlags;

// Calls from within the libraries must not come to CGLib.c.
#pragma GCC visibility push(hidden)
#endif

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT NAME PARAMETERS;
#include "glib.def"
#include "secret.def"
#undef FUNCTION

#ifndef LANYARD_SYSTEM_HEADERS
#pragma GCC visibility pop
#endif

/// Opens GIO, once; NULL if it is open and has every function of GLib's, else what is wrong. None of libsecret's may be called.
const char *lanyard_bus_open(void);

/// Opens libsecret, once; NULL if it is open and has every function, else what is wrong.
const char *lanyard_secret_open(void);

/// The type of a SecretService for secret_service_open_sync that makes no calls of its own.
GType lanyard_secret_service_get_type(void);
