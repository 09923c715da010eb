#pragma once

// libcurl, opened when a request is first sent, as git has it: git's own engine is on every machine with git over https.
//
// The functions have their own names and types and only pass calls on; lanyard_curl_open must have succeeded before. Options and
// what they mean never change their numbers. script/lint compiles CCurl.c against the library's own headers, which checks every
// declaration.

#include <stddef.h>
#include <stdint.h>

#ifdef LANYARD_SYSTEM_HEADERS
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo
#else

typedef void CURL;
typedef void CURLM;
typedef int CURLcode;
typedef int CURLMcode;
typedef int CURLversion;
struct curl_waitfd;

struct curl_slist {
    char *data;
    struct curl_slist *next;
};

struct curl_certinfo {
    int num_of_certs;
    struct curl_slist **certinfo;
};

typedef struct CURLMsg {
    int msg;
    CURL *easy_handle;
    union {
        void *whatever;
        CURLcode result;
    } data;
} CURLMsg;

// Only the beginning, which is in every version.
typedef struct curl_version_info_data {
    CURLversion age;
    const char *version;
    unsigned int version_num;
    const char *host;
    int features;
    const char *ssl_version;
} curl_version_info_data;

enum {
    CURLOPT_WRITEDATA = 10001, CURLOPT_URL = 10002, CURLOPT_PROXY = 10004, CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_POSTFIELDS = 10015, CURLOPT_USERAGENT = 10018, CURLOPT_HTTPHEADER = 10023, CURLOPT_SSLCERT = 10025, CURLOPT_SSL_CIPHER_LIST = 10083, CURLOPT_PROXY_SSL_CIPHER_LIST = 10259,
    CURLOPT_KEYPASSWD = 10026, CURLOPT_HEADERDATA = 10029, CURLOPT_CUSTOMREQUEST = 10036, CURLOPT_NOPROGRESS = 43,
    CURLOPT_NETRC = 51, CURLOPT_FOLLOWLOCATION = 52, CURLOPT_SSL_VERIFYPEER = 64, CURLOPT_CAINFO = 10065, CURLOPT_FORBID_REUSE = 75,
    CURLOPT_SSL_VERIFYHOST = 81, CURLOPT_HTTP_VERSION = 84, CURLOPT_SSLKEY = 10087, CURLOPT_CAPATH = 10097, CURLOPT_NOSIGNAL = 99,
    CURLOPT_PROXYAUTH = 111, CURLOPT_CONNECT_ONLY = 141, CURLOPT_SSL_SESSIONID_CACHE = 150, CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_CONNECTTIMEOUT_MS = 156, CURLOPT_CERTINFO = 172, CURLOPT_PROXYUSERNAME = 10175, CURLOPT_PROXYPASSWORD = 10176,
    CURLOPT_NOPROXY = 10177, CURLOPT_PROTOCOLS = 181, CURLOPT_RESOLVE = 10203, CURLOPT_HEADEROPT = 229,
    CURLOPT_PROXY_CAINFO = 10246, CURLOPT_PROXY_CAPATH = 10247, CURLOPT_PROXY_SSLVERSION = 250,
    CURLOPT_SUPPRESS_CONNECT_HEADERS = 265, CURLOPT_SSLVERSION = 32, CURLOPT_QUICK_EXIT = 322, CURLOPT_PREREQDATA = 10313,
    CURLOPT_XFERINFODATA = 10057, CURLOPT_XFERINFOFUNCTION = 20219,
    CURLOPT_WRITEFUNCTION = 20011, CURLOPT_HEADERFUNCTION = 20079, CURLOPT_PREREQFUNCTION = 20312,
    CURLOPT_POSTFIELDSIZE_LARGE = 30120,
};

enum {
    CURLINFO_RESPONSE_CODE = 0x200002, CURLINFO_SSL_VERIFYRESULT = 0x20000d, CURLINFO_HTTP_CONNECTCODE = 0x200016,
    CURLINFO_OS_ERRNO = 0x200019, CURLINFO_PROXY_SSL_VERIFYRESULT = 0x20002f, CURLINFO_PROXY_ERROR = 0x20003b,
    CURLINFO_CERTINFO = 0x400022, CURLINFO_CONNECT_TIME = 0x300005,
};

#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT NAME PARAMETERS;
#include "curl.def"
#undef FUNCTION

#endif

/// Opens libcurl: the build with OpenSSL, or else the one with GnuTLS. Returns NULL, or what is missing.
const char *lanyard_curl_open(void);

// One function for each type of an option's value; the number of an option tells its type.
CURLcode lanyard_curl_set_long(CURL *handle, int option, long value);
CURLcode lanyard_curl_set_size(CURL *handle, int option, int64_t value);
CURLcode lanyard_curl_set_pointer(CURL *handle, int option, const void *value);
/// Takes what arrives: a piece of the body, or a line of the head.
CURLcode lanyard_curl_set_sink(CURL *handle, int option, size_t (*take)(char *bytes, size_t one, size_t count, void *data));
/// Is called once the connection is safe, before the request is sent; anything but 0 ends the transfer.
CURLcode lanyard_curl_set_check(CURL *handle, int (*check)(void *data, char *, char *, int, int));
/// Is called again and again while a transfer runs; anything but 0 ends it.
CURLcode lanyard_curl_set_progress(CURL *handle, int (*report)(void *data, int64_t, int64_t, int64_t, int64_t));

CURLcode lanyard_curl_get_long(CURL *handle, int info, long *value);
CURLcode lanyard_curl_get_double(CURL *handle, int info, double *value);
CURLcode lanyard_curl_get_certificates(CURL *handle, struct curl_certinfo **value);
