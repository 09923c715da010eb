#pragma once

// What an application proves itself with, read by OpenSSL, which is opened when it is needed: PKCS #12 and encrypted keys are
// encrypted in more ways than one would write again.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// What became of reading a file.
typedef enum {
    LANYARD_CERTIFICATE_READ = 0,
    /// libcrypto isn't installed.
    LANYARD_CERTIFICATE_WITHOUT_LIBRARY,
    /// The password doesn't open it, or it is something else.
    LANYARD_CERTIFICATE_UNOPENED,
} lanyard_certificate_result;

/// Reads the private key of a PEM file, or all of a PKCS #12 file.
///
/// take is called for the key, if there is one, and for each certificate, each in DER, and must copy what it is given. A password of
/// NULL stands for none, which isn't the same as an empty one.
lanyard_certificate_result lanyard_certificate_read(
    const uint8_t *bytes, size_t count, const char *password,
    void (*take)(void *data, bool is_key, const uint8_t *der, size_t length), void *data);
