// seclusion HOW PROGRAM [ARGUMENT...]: runs a program where the kernel's keyring, or a lock, is not what it is elsewhere.
//   eperm, enosys   the kernel refuses its keyring, as in many containers
//   enolck          it locks no files, as for those on an NFS server without locks
//   session         the session has a new keyring of its own that doesn't lead to the user's
//   enter=PID       the users of that process's namespace have other keyrings
// seclusion hold: is such a process, until its input ends; writes a byte once it is one.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse(int error, unsigned call, unsigned other) {
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
    };
    struct sock_fprog filter = {sizeof program / sizeof *program, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t size = (ssize_t)strlen(text), written = write(file, text, (size_t)size);
    close(file);
    return written == size ? 0 : -1;
}

static int hold(void) {
    // Users are themselves in there, so that none needs rights to make it.
    char user[64], group[64];
    snprintf(user, sizeof user, "%u %u 1", geteuid(), geteuid());
    snprintf(group, sizeof group, "%u %u 1", getegid(), getegid());
    if (unshare(CLONE_NEWUSER) < 0 || put("/proc/self/uid_map", user) < 0) return -1;
    // Nobody in there may leave a group that takes rights away (user_namespaces(7)).
    if (put("/proc/self/setgroups", "deny") < 0 || put("/proc/self/gid_map", group) < 0) return -1;
    char byte = '\n';
    if (write(1, &byte, 1) != 1) return -1;
    while (read(0, &byte, 1) > 0) continue;
    return 0;
}

static int enter(const char *process) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/ns/user", atol(process));
    int namespace = open(path, O_RDONLY | O_CLOEXEC);
    return namespace < 0 ? -1 : setns(namespace, CLONE_NEWUSER);
}

int main(int count, char **arguments) {
    if (count == 2 && strcmp(arguments[1], "hold") == 0) {
        if (hold() == 0) return 0;
        perror("hold");
        return 64;
    }
    if (count < 3) return 64;
    int failed = 64;
    if (strncmp(arguments[1], "enter=", 6) == 0) failed = enter(arguments[1] + 6);
    if (strcmp(arguments[1], "eperm") == 0) failed = refuse(EPERM, SYS_keyctl, SYS_add_key);
    if (strcmp(arguments[1], "enosys") == 0) failed = refuse(ENOSYS, SYS_keyctl, SYS_add_key);
    if (strcmp(arguments[1], "enolck") == 0) failed = refuse(ENOLCK, SYS_flock, SYS_flock);
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
