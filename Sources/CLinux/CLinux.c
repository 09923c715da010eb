#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

// keyctl_setperm(3): view, read, write, search and set attributes, for the possessor and the user of the key.
static const uint32_t key_permissions = 0x2f2f0000;

static long result(long value) { return value < 0 ? -errno : value; }

int32_t lanyard_key_find(const char *description) {
    return (int32_t)result(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", description, 0));
}

int32_t lanyard_key_put(const char *description, const void *bytes, size_t count, uint32_t seconds) {
    // A session's keyring may lack the user's (keyrings(7)), and then lanyard couldn't set up its own new key.
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

int lanyard_key_is(int32_t key, const char *description) {
    char text[256];
    long length = syscall(SYS_keyctl, KEYCTL_DESCRIBE, key, text, sizeof text);
    if (length <= 0 || (size_t)length > sizeof text || strncmp(text, "user;", 5)) return 0;
    const char *end = strrchr(text, ';');
    return end && !strcmp(end + 1, description);
}

long lanyard_key_revoke(int32_t key) {
    // A key that is only revoked counts against the user's quota for some more minutes.
    long done = syscall(SYS_keyctl, KEYCTL_INVALIDATE, key);
    return result(done < 0 ? syscall(SYS_keyctl, KEYCTL_REVOKE, key) : done);
}

int lanyard_has_named_users(const char *path, int descriptor) {
    static const char name[] = "system.posix_acl_access";
    return (path ? getxattr(path, name, NULL, 0) : fgetxattr(descriptor, name, NULL, 0)) > 0;
}

void lanyard_settle(void) {
    signal(SIGCHLD, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *pass_gate(void *unused) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

int lanyard_check_resources(int threads, int files) {
    // For reading and writing, as it is given to programs.
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0) return -errno;
    int last = fcntl(nowhere, F_DUPFD_CLOEXEC, nowhere + files);
    int problem = last < 0 ? -EMFILE : 0;
    if (last >= 0) close(last);
    close(nowhere);
    if (problem) return problem;
    pthread_t made[16];
    int count = 0;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    // On this processor: waking another one for each of them takes far longer than they do.
    cpu_set_t allowed, here;
    int restores = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    if (restores) sched_setaffinity(0, sizeof here, &here);
    // They all wait for the last one, so that they are there at the same time.
    pthread_mutex_lock(&gate);
    while (count < threads && count < 16 && problem == 0) {
        problem = -pthread_create(&made[count], &small, pass_gate, NULL);
        if (problem == 0) count++;
    }
    pthread_mutex_unlock(&gate);
    while (count > 0) pthread_join(made[--count], NULL);
    if (restores) sched_setaffinity(0, sizeof allowed, &allowed);
    pthread_attr_destroy(&small);
    return problem;
}

int lanyard_memory_file(const void *bytes, size_t count) {
    int file = memfd_create("lanyard", MFD_CLOEXEC);
    if (file < 0) return -errno;
    for (size_t done = 0; done < count;) {
        ssize_t written = write(file, (const char *)bytes + done, count - done);
        if (written < 0) {
            int problem = -errno;
            close(file);
            return problem;
        }
        done += (size_t)written;
    }
    return file;
}

int lanyard_hide_memory(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
    limit.rlim_cur = 0;
    if (setrlimit(RLIMIT_CORE, &limit) < 0) return -errno;
    // A core dump that is piped to a program ignores the limit, but not this.
    return (int)result(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
}

int lanyard_exec(const char *program, char *const arguments[], char *const environment[]) {
    execvpe(program, arguments, environment);
    return -errno;
}

int lanyard_process_open(int process) { return (int)result(syscall(SYS_pidfd_open, process, 0)); }

// Between fork and exec, only functions that are safe in a signal handler may be called: other threads may have held
// any lock (signal-safety(7)).

// Closes the descriptors from 3 on in the next program.
static void close_on_exec(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3, ~0U, 4 /* CLOSE_RANGE_CLOEXEC, Linux 5.11 */) == 0) return;
#endif
    struct rlimit limit;
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536 ? (int)limit.rlim_cur : 65536;
    for (int descriptor = 3; descriptor < end; descriptor++) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

// Becomes the program; returns the errno only if that fails.
static int become(const char *program, char *const arguments[], char *const environment[], int input, int output) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // Duplicates above the standard descriptors, so that replacing one of these closes none that is still needed.
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    input = fcntl(input, F_DUPFD_CLOEXEC, 3);
    output = fcntl(output, F_DUPFD_CLOEXEC, 3);
    if (nowhere < 0 || input < 0 || output < 0 || chdir("/") < 0) return errno;
    if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(nowhere, 2) < 0) return errno;
    close_on_exec();
    execve(program, arguments, environment);
    return errno;
}

// Starts the program; returns 0 or the errno.
static int start_apart(
    const char *program, char *const arguments[], char *const environment[], int input, int output) {
    // This pipe closes when the program runs; before that, it reports an error.
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return errno;
    pid_t between = fork();
    if (between == 0) {
        setsid();
        pid_t child = fork();
        if (child > 0) _exit(0);
        int why = fcntl(report[1], F_DUPFD_CLOEXEC, 3);
        int reason = why < 0 || child < 0 ? errno : become(program, arguments, environment, input, output);
        ssize_t told = write(why < 0 ? report[1] : why, &reason, sizeof reason);
        _exit(told < 0 ? 1 : 0);
    }
    int reason = between < 0 ? errno : 0;
    close(report[1]);
    if (between > 0) {
        while (waitpid(between, NULL, 0) < 0 && errno == EINTR) {}
        ssize_t count;
        do count = read(report[0], &reason, sizeof reason);
        while (count < 0 && errno == EINTR);
    }
    close(report[0]);
    return reason;
}

int lanyard_start_apart(
    const char *program, char *const arguments[], char *const environment[], int streams[2]) {
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) < 0) return -errno;
    if (pipe2(from, O_CLOEXEC) < 0) {
        int reason = errno;
        close(to[0]);
        close(to[1]);
        return -reason;
    }
    int reason = start_apart(program, arguments, environment, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    if (reason == 0) {
        streams[0] = to[1];
        streams[1] = from[0];
    } else {
        close(to[1]);
        close(from[0]);
    }
    return -reason;
}
