#pragma once

#include <libsecret/secret.h>

// SecretSchema holds a 32-element array, which Swift would see as a tuple: the schemas are written down here.

// Never matched by name: a keyring that was not unlocked since its daemon started hides its items from a search that
// names the schema, and "locked" could not be told from "not stored".

static inline const SecretSchema *lanyard_credential_schema(void) {
    static const SecretSchema schema = {
        "dev.lanyard.Credential",
        SECRET_SCHEMA_DONT_MATCH_NAME,
        {
            {"group", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"kind", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"home-account", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"environment", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"client", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"realm", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"target", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"family", SECRET_SCHEMA_ATTRIBUTE_STRING},
        },
    };
    return &schema;
}

// What git-credential-libsecret uses since git 2.40 or so; older builds use GNOME's network schema, whose names for
// these attributes are the same.
static inline const SecretSchema *lanyard_git_password_schema(void) {
    static const SecretSchema schema = {
        "org.git.Password",
        SECRET_SCHEMA_DONT_MATCH_NAME,
        {
            {"user", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"object", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"protocol", SECRET_SCHEMA_ATTRIBUTE_STRING},
            {"port", SECRET_SCHEMA_ATTRIBUTE_INTEGER},
            {"server", SECRET_SCHEMA_ATTRIBUTE_STRING},
        },
    };
    return &schema;
}
