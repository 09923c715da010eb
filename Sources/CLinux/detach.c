#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int lanyard_spawn_in_root(void *actions) {
    return posix_spawn_file_actions_addchdir_np(actions, "/");
}

// The bytes that a pipe holds without a reader, on every Linux (pipe(7)).
enum { pipe_capacity = 65536, longest_input = 1 << 20 };

// Moves a descriptor away from those that the program gets, and closes it.
static int moved(int descriptor) {
    int other = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(descriptor);
    return other;
}

static int spawn(
    pid_t *process, int input, int output, const char *program, char *const arguments[], char *const environment[]) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawnattr_init(&attributes);
    if (error) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output < 0 ? STDERR_FILENO : output, STDOUT_FILENO);
    // A program that waits for the end of a pipe must not wait for this process.
    if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!error) error = lanyard_spawn_in_root(&actions);
    if (!error) error = posix_spawnattr_setsigmask(&attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(&attributes, &all);
    short flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (!error) error = posix_spawnattr_setflags(&attributes, flags);
    if (!error) error = posix_spawn(process, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

// Starts the program with what was written to a pipe; closes neither end of the output's.
static int detach(
    const char *program, char *const arguments[], char *const environment[], const void *bytes, size_t count,
    int output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return -errno;
    if (count > pipe_capacity) fcntl(ends[1], F_SETPIPE_SZ, (int)count);
    ssize_t written = write(ends[1], bytes, count);
    int error = written < 0 ? errno : (size_t)written < count ? EMSGSIZE : 0;
    close(ends[1]);
    int input = moved(ends[0]);
    if (input < 0) return -errno;
    pid_t process = 0;
    // The flag belongs to the open file, so the program would inherit it.
    if (!error && fcntl(input, F_SETFL, 0) < 0) error = errno;
    if (!error) error = spawn(&process, input, output, program, arguments, environment);
    close(input);
    return error ? -error : process;
}

int lanyard_detach(
    const char *program, char *const arguments[], char *const environment[], const void *bytes, size_t count,
    int *output) {
    if (count > longest_input) return -EMSGSIZE;
    if (!output) return detach(program, arguments, environment, bytes, count, -1);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    int into = moved(ends[1]);
    int process = into < 0 ? -errno : detach(program, arguments, environment, bytes, count, into);
    if (into >= 0) close(into);
    if (process < 0) close(ends[0]);
    else *output = ends[0];
    return process;
}
