#define _GNU_SOURCE
#include "CGLib.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *const names[] = {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#include "glib.def"
#include "secret.def"
#undef FUNCTION
};

// GLib's come first: how many there are.
enum {
    glib_count = 0
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) +1
#include "glib.def"
#undef FUNCTION
};

static union {
    struct {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
#include "glib.def"
#include "secret.def"
#undef FUNCTION
    } call;
    void *all[sizeof names / sizeof *names];
} library;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS { return library.call.NAME ARGUMENTS; }
#include "glib.def"
#include "secret.def"
#undef FUNCTION

struct opening {
    pthread_once_t once;
    char problem[512];
};

// What a library depends on is found through it.
static void load(const char *name, size_t count, struct opening *opening) {
    void *handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        snprintf(opening->problem, sizeof opening->problem, "%s", dlerror());
        return;
    }
    for (size_t index = 0; index < count; index++) {
        library.all[index] = dlsym(handle, names[index]);
        if (library.all[index] == NULL) {
            snprintf(opening->problem, sizeof opening->problem, "%s has no %s", name, names[index]);
            return;
        }
    }
}

static struct opening bus = {.once = PTHREAD_ONCE_INIT}, secret = {.once = PTHREAD_ONCE_INIT};

static void load_bus(void) { load("libgio-2.0.so.0", glib_count, &bus); }

static void load_secret(void) { load("libsecret-1.so.0", sizeof names / sizeof *names, &secret); }

const char *lanyard_bus_open(void) {
    pthread_once(&bus.once, load_bus);
    return bus.problem[0] == '\0' ? NULL : bus.problem;
}

const char *lanyard_secret_open(void) {
    pthread_once(&secret.once, load_secret);
    return secret.problem[0] == '\0' ? NULL : secret.problem;
}

// libsecret's own service is a proxy that starts the provider, reads all its properties and subscribes to all its signals,
// which nothing here looks at. It sets its flags itself when it is constructed, so only a derived type can set others.
static GObject *(*construct_service)(GType type, guint count, GObjectConstructParam *properties);

static void set(GObject *object, const char *name, ...) {
    va_list rest;
    va_start(rest, name);
    g_object_set_valist(object, name, rest);
    va_end(rest);
}

static GObject *construct(GType type, guint count, GObjectConstructParam *properties) {
    GObject *object = construct_service(type, count, properties);
    set(object, "g-flags",
        G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS
            | G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION | G_DBUS_PROXY_FLAGS_NO_MATCH_RULE,
        NULL);
    return object;
}

static void init_class(gpointer type_class, gpointer data) {
    (void)data;
    construct_service = ((GObjectClass *)type_class)->constructor;
    ((GObjectClass *)type_class)->constructor = construct;
}

static GType service_type;

static void register_service(void) {
    GTypeQuery parent;
    g_type_query(secret_service_get_type(), &parent);
    service_type = g_type_register_static_simple(
        parent.type, "LanyardSecretService", parent.class_size, init_class, parent.instance_size, NULL, 0);
}

GType lanyard_secret_service_get_type(void) {
    static pthread_once_t registered = PTHREAD_ONCE_INIT;
    pthread_once(&registered, register_service);
    return service_type;
}

// The declarations that no function's checks, compared with the libraries' own where script/lint compiles this with those.

#define TYPE(NAME, ...) _Static_assert(__builtin_types_compatible_p(NAME, __VA_ARGS__), #NAME);
TYPE(gchar, char)
TYPE(gint, int)
TYPE(gboolean, int)
TYPE(guint, unsigned int)
TYPE(gsize, unsigned long)
TYPE(gssize, signed long)
TYPE(GQuark, uint32_t)
TYPE(GType, gsize)
TYPE(gpointer, void *)
TYPE(gconstpointer, const void *)
TYPE(GDestroyNotify, void (*)(gpointer))
TYPE(GHashFunc, guint (*)(gconstpointer))
TYPE(GEqualFunc, gboolean (*)(gconstpointer, gconstpointer))
TYPE(GLogWriterFunc, GLogWriterOutput (*)(GLogLevelFlags, const GLogField *, gsize, gpointer))
TYPE(GClassInitFunc, void (*)(gpointer, gpointer))
TYPE(GInstanceInitFunc, void (*)(GTypeInstance *, gpointer))
TYPE(GAsyncReadyCallback, void (*)(GObject *, GAsyncResult *, gpointer))
TYPE(GDBusSignalCallback,
    void (*)(GDBusConnection *, const gchar *, const gchar *, const gchar *, const gchar *, GVariant *, gpointer))

#define LAYOUT(STRUCTURE, MEMBER, OFFSET, ...) \
    _Static_assert(offsetof(STRUCTURE, MEMBER) == (OFFSET), #STRUCTURE "." #MEMBER); \
    TYPE(__typeof__(((STRUCTURE *)0)->MEMBER), __VA_ARGS__)
LAYOUT(GError, domain, 0, GQuark)
LAYOUT(GError, code, 4, gint)
LAYOUT(GError, message, 8, gchar *)
LAYOUT(GTypeQuery, type, 0, GType)
LAYOUT(GTypeQuery, type_name, sizeof(GType), const gchar *)
LAYOUT(GTypeQuery, class_size, 2 * sizeof(GType), guint)
LAYOUT(GTypeQuery, instance_size, 2 * sizeof(GType) + 4, guint)
_Static_assert(sizeof(GTypeQuery) == 2 * sizeof(GType) + 8, "GTypeQuery");
LAYOUT(GObjectClass, constructor, 2 * sizeof(GType), GObject *(*)(GType, guint, GObjectConstructParam *))

#define CONSTANT(NAME, VALUE) _Static_assert((NAME) == (VALUE), #NAME);
CONSTANT(G_LOG_LEVEL_DEBUG, 1 << 7)
CONSTANT(G_LOG_WRITER_HANDLED, 1)
CONSTANT(G_LOG_WRITER_UNHANDLED, 0)
CONSTANT(G_BUS_TYPE_SESSION, 2)
CONSTANT(G_DBUS_CALL_FLAGS_NONE, 0)
CONSTANT(G_DBUS_SIGNAL_FLAGS_NONE, 0)
CONSTANT(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT, 1 << 0)
CONSTANT(G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION, 1 << 3)
CONSTANT(G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES, 1 << 0)
CONSTANT(G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS, 1 << 1)
CONSTANT(G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START_AT_CONSTRUCTION, 1 << 4)
CONSTANT(G_DBUS_PROXY_FLAGS_NO_MATCH_RULE, 1 << 5)
CONSTANT(SECRET_SERVICE_NONE, 0)
