#pragma once

// GDBus, a part of GIO, opened when the session bus is first needed.
//
// The functions have the library's names and types, with bus_ before the name since CSecret has some of the same, and only pass
// calls on; lanyard_bus_open must have succeeded before. script/lint compiles CGIO.c against the library's own headers, which
// checks every declaration.

#include <stddef.h>
#include <stdint.h>

#ifdef LANYARD_SYSTEM_HEADERS
#include <gio/gio.h>
#undef g_free

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT NAME PARAMETERS;
#include "functions.def"
#undef FUNCTION
#else

// GLib
typedef char gchar;
typedef int gint;
typedef int gboolean;
typedef unsigned int guint;
typedef unsigned long gsize;
typedef uint32_t GQuark;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef void (*GDestroyNotify)(gpointer data);
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

// GIO
typedef struct _GCancellable GCancellable;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef enum { G_DBUS_CALL_FLAGS_NONE = 0 } GDBusCallFlags;
typedef enum {
    G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1 << 0,
    G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 1 << 3
} GDBusConnectionFlags;
#endif

// Calls from within the library must not come to CGIO.c.
#pragma GCC visibility push(hidden)
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT bus_##NAME PARAMETERS;
#include "functions.def"
#undef FUNCTION
#pragma GCC visibility pop

/// Opens GIO, once; NULL if it is open and has every function, else what is wrong.
const char *lanyard_bus_open(void);
