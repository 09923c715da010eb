#define _GNU_SOURCE
#include "CSecret.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// GLib's functions are found through libsecret, which depends on it.
static const char library_name[] = "libsecret-1.so.0";

static const char *const names[] = {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#include "functions.def"
#undef FUNCTION
};

static union {
    struct {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
#include "functions.def"
#undef FUNCTION
    } call;
    void *all[sizeof names / sizeof *names];
} library;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS { return library.call.NAME ARGUMENTS; }
#include "functions.def"
#undef FUNCTION

static char problem[512];

static void open_library(void) {
    void *handle = dlopen(library_name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return;
    }
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        library.all[index] = dlsym(handle, names[index]);
        if (library.all[index] == NULL) {
            snprintf(problem, sizeof problem, "%s has no %s", library_name, names[index]);
            return;
        }
    }
}

const char *lanyard_secret_open(void) {
    static pthread_once_t opened = PTHREAD_ONCE_INIT;
    pthread_once(&opened, open_library);
    return problem[0] == '\0' ? NULL : problem;
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
