#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// keyctl_setperm(3): view, read, write, search and set attributes, for whoever possesses the key and for its user.
static const uint32_t key_permissions = 0x2f2f0000;

static long result(long value) { return value < 0 ? -errno : value; }

int32_t lanyard_key_find(const char *description) {
    return (int32_t)result(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", description, 0));
}

int32_t lanyard_key_put(const char *description, const void *bytes, size_t count, uint32_t seconds) {
    // A session need not have the user's keyring in its own (keyrings(7)); one's own new key could then not be set up.
    syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING);
    long key = result(syscall(SYS_add_key, "user", description, bytes, count, KEY_SPEC_USER_KEYRING));
    if (key < 0) return (int32_t)key;
    long done = result(syscall(SYS_keyctl, KEYCTL_SETPERM, (int32_t)key, key_permissions));
    if (done >= 0) done = result(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, (int32_t)key, seconds));
    return (int32_t)(done < 0 ? done : key);
}

long lanyard_key_read(int32_t key, void *bytes, size_t capacity) {
    return result(syscall(SYS_keyctl, KEYCTL_READ, key, bytes, capacity));
}

long lanyard_key_revoke(int32_t key) { return result(syscall(SYS_keyctl, KEYCTL_REVOKE, key)); }

int lanyard_hide_memory(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
    // A core that is piped to a program ignores the limit; this one it doesn't.
    return (int)result(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

int lanyard_exec(const char *program, char *const arguments[], char *const environment[]) {
    execvpe(program, arguments, environment);
    return -errno;
}
