#define _GNU_SOURCE
#include "CCrypto.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef void BIO, EVP_PKEY, X509, PKCS12, STACK;
typedef int password_callback(char *buffer, int size, int writing, void *data);

static struct {
    BIO *(*BIO_new_mem_buf)(const void *bytes, int count);
    int (*BIO_free)(BIO *);
    EVP_PKEY *(*PEM_read_bio_PrivateKey)(BIO *, EVP_PKEY **, password_callback *, void *data);
    PKCS12 *(*d2i_PKCS12_bio)(BIO *, PKCS12 **);
    int (*PKCS12_parse)(PKCS12 *, const char *password, EVP_PKEY **, X509 **, STACK **);
    void (*PKCS12_free)(PKCS12 *);
    int (*OPENSSL_sk_num)(const STACK *);
    void *(*OPENSSL_sk_value)(const STACK *, int index);
    void (*OPENSSL_sk_pop_free)(STACK *, void (*)(void *));
    int (*i2d_X509)(X509 *, unsigned char **);
    int (*i2d_PrivateKey)(EVP_PKEY *, unsigned char **);
    void (*X509_free)(X509 *);
    void (*EVP_PKEY_free)(EVP_PKEY *);
    void (*CRYPTO_free)(void *, const char *file, int line);
} crypto;

static const char *const names[] = {
    "BIO_new_mem_buf", "BIO_free", "PEM_read_bio_PrivateKey", "d2i_PKCS12_bio", "PKCS12_parse", "PKCS12_free",
    "OPENSSL_sk_num", "OPENSSL_sk_value", "OPENSSL_sk_pop_free", "i2d_X509", "i2d_PrivateKey", "X509_free", "EVP_PKEY_free",
    "CRYPTO_free",
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_open;

static void load(void) {
    void *handle = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) handle = dlopen("libcrypto.so.1.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == NULL) return;
    for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
        void *function = dlsym(handle, names[index]);
        if (function == NULL) return;
        memcpy((void **)&crypto + index, &function, sizeof function);
    }
    // Version 3 reads what old versions of Windows wrote only if it is told to.
    void *(*provide)(void *, const char *) = dlsym(handle, "OSSL_PROVIDER_load");
    if (provide != NULL) {
        provide(NULL, "default");
        provide(NULL, "legacy");
    }
    is_open = 1;
}

// PEM's password: it never asks at a terminal.
static int give(char *buffer, int size, int writing, void *data) {
    (void)writing;
    size_t length = data == NULL ? 0 : strlen(data);
    if (data == NULL || length > (size_t)size) return -1;
    memcpy(buffer, data, length);
    return (int)length;
}

typedef void taker(void *data, bool is_key, const uint8_t *der, size_t length);

static void hand_over(unsigned char *der, int length, bool is_key, taker *take, void *data) {
    if (length > 0) take(data, is_key, der, (size_t)length);
    if (length > 0) crypto.CRYPTO_free(der, "", 0);
}

static void take_key(EVP_PKEY *key, taker *take, void *data) {
    unsigned char *der = NULL;
    int length = crypto.i2d_PrivateKey(key, &der);
    hand_over(der, length, true, take, data);
}

static void take_certificate(X509 *certificate, taker *take, void *data) {
    unsigned char *der = NULL;
    int length = crypto.i2d_X509(certificate, &der);
    hand_over(der, length, false, take, data);
}

static lanyard_certificate_result read_pem(const uint8_t *bytes, int count, const char *password, taker *take, void *data) {
    BIO *text = crypto.BIO_new_mem_buf(bytes, count);
    EVP_PKEY *key = crypto.PEM_read_bio_PrivateKey(text, NULL, give, (void *)password);
    crypto.BIO_free(text);
    if (key == NULL) return LANYARD_CERTIFICATE_UNOPENED;
    take_key(key, take, data);
    crypto.EVP_PKEY_free(key);
    return LANYARD_CERTIFICATE_READ;
}

static lanyard_certificate_result read_pkcs12(const uint8_t *bytes, int count, const char *password, taker *take, void *data) {
    BIO *text = crypto.BIO_new_mem_buf(bytes, count);
    PKCS12 *bundle = crypto.d2i_PKCS12_bio(text, NULL);
    crypto.BIO_free(text);
    if (bundle == NULL) return LANYARD_CERTIFICATE_UNOPENED;
    EVP_PKEY *key = NULL;
    X509 *certificate = NULL;
    STACK *others = NULL;
    int opens = crypto.PKCS12_parse(bundle, password, &key, &certificate, &others);
    crypto.PKCS12_free(bundle);
    if (!opens) return LANYARD_CERTIFICATE_UNOPENED;
    if (key != NULL) take_key(key, take, data);
    if (certificate != NULL) take_certificate(certificate, take, data);
    for (int index = 0; others != NULL && index < crypto.OPENSSL_sk_num(others); index++)
        take_certificate(crypto.OPENSSL_sk_value(others, index), take, data);
    if (others != NULL) crypto.OPENSSL_sk_pop_free(others, crypto.X509_free);
    if (certificate != NULL) crypto.X509_free(certificate);
    if (key != NULL) crypto.EVP_PKEY_free(key);
    return LANYARD_CERTIFICATE_READ;
}

lanyard_certificate_result lanyard_certificate_read(const uint8_t *bytes, size_t count, const char *password, taker *take, void *data) {
    pthread_once(&once, load);
    if (!is_open) return LANYARD_CERTIFICATE_WITHOUT_LIBRARY;
    if (memmem(bytes, count, "-----BEGIN", 10) != NULL) return read_pem(bytes, (int)count, password, take, data);
    return read_pkcs12(bytes, (int)count, password, take, data);
}
