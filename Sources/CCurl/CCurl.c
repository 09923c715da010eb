#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const char *const names[] = {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) #NAME,
#include "curl.def"
#undef FUNCTION
    "curl_easy_setopt", "curl_easy_getinfo",
};

static union {
    struct {
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*NAME) PARAMETERS;
#include "curl.def"
#undef FUNCTION
        // They stay variadic: how their arguments are passed depends on it.
        CURLcode (*set)(CURL *handle, int option, ...);
        CURLcode (*get)(CURL *handle, int info, ...);
    } call;
    void *all[sizeof names / sizeof *names];
} library;

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) \
    RESULT NAME PARAMETERS { return library.call.NAME ARGUMENTS; }
#include "curl.def"
#undef FUNCTION

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char problem[512];

static void load(void) {
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) {
        snprintf(problem, sizeof problem, "%s", dlerror());
        return;
    }
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        library.all[index] = dlsym(handle, names[index]);
        if (library.all[index] == NULL) {
            snprintf(problem, sizeof problem, "libcurl has no %s", names[index]);
            return;
        }
    }
    // SSL and Win32; the first of which has no effect any more.
    if (curl_global_init(3) != 0) snprintf(problem, sizeof problem, "libcurl can't be initialised");
}

const char *lanyard_curl_open(void) {
    pthread_once(&once, load);
    return problem[0] == '\0' ? NULL : problem;
}

CURLcode lanyard_curl_set_long(CURL *handle, int option, long value) { return library.call.set(handle, option, value); }

CURLcode lanyard_curl_set_size(CURL *handle, int option, int64_t value) { return library.call.set(handle, option, value); }

CURLcode lanyard_curl_set_pointer(CURL *handle, int option, const void *value) {
    return library.call.set(handle, option, value);
}

CURLcode lanyard_curl_set_sink(CURL *handle, int option, size_t (*take)(char *, size_t, size_t, void *)) {
    return library.call.set(handle, option, take);
}

CURLcode lanyard_curl_set_check(CURL *handle, int (*check)(void *, char *, char *, int, int)) {
    return library.call.set(handle, CURLOPT_PREREQFUNCTION, check);
}

CURLcode lanyard_curl_set_progress(CURL *handle, int (*report)(void *, int64_t, int64_t, int64_t, int64_t)) {
    return library.call.set(handle, CURLOPT_XFERINFOFUNCTION, report);
}

CURLcode lanyard_curl_get_long(CURL *handle, int info, long *value) { return library.call.get(handle, info, value); }

CURLcode lanyard_curl_get_double(CURL *handle, int info, double *value) { return library.call.get(handle, info, value); }

CURLcode lanyard_curl_get_certificates(CURL *handle, struct curl_certinfo **value) {
    return library.call.get(handle, CURLINFO_CERTINFO, value);
}
