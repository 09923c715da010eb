// seclusion HOW PROGRAM [ARGUMENT...]: runs a program where the kernel's keyring is not what it is elsewhere.
//   eperm, enosys   the kernel refuses it, as in many containers
//   session         the session has a new keyring of its own that doesn't lead to the user's
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(int error) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_add_key, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    int failed = 64;
    if (strcmp(arguments[1], "eperm") == 0) failed = refuse(EPERM);
    if (strcmp(arguments[1], "enosys") == 0) failed = refuse(ENOSYS);
    if (strcmp(arguments[1], "session") == 0)
        failed = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ? -1 : 0;
    if (failed) {
        perror(arguments[1]);
        return 64;
    }
    execv(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 127;
}
