#define _GNU_SOURCE
#include "CGIO.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// What GIO depends on, GLib and GObject, is found through it.
static const char library_name[] = "libgio-2.0.so.0";

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
    RESULT bus_##NAME PARAMETERS { return library.call.NAME ARGUMENTS; }
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

const char *lanyard_bus_open(void) {
    static pthread_once_t opened = PTHREAD_ONCE_INIT;
    pthread_once(&opened, open_library);
    return problem[0] == '\0' ? NULL : problem;
}
