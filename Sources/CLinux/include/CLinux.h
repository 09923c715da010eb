#pragma once

#include <stddef.h>
#include <stdint.h>

// The system calls that Swift can't make by itself, because syscall(2) and prctl(2) are variadic. Each of these
// functions returns its call's result, or the negative errno.

/// Finds a key of type "user" by its description in the user's keyring, @u, and returns its serial number.
int32_t lanyard_key_find(const char *description);

/// Adds a key of type "user" to the user's keyring, replacing the one with the same description.
///
/// Only this user's processes can find, read and replace it; the kernel removes it after the given number of seconds.
int32_t lanyard_key_put(const char *description, const void *bytes, size_t count, uint32_t seconds);

/// Whether a serial number is that of a key of type "user" with this description, in whichever keyring.
int lanyard_key_is(int32_t key, const char *description);

/// Reads a key's bytes, and returns their number, which may exceed the capacity.
long lanyard_key_read(int32_t key, void *bytes, size_t capacity);

/// Revokes a key.
long lanyard_key_revoke(int32_t key);

/// Whether an access control list gives permissions to users or groups besides a file's own (acl(5)); without a path, of the
/// open file.
int lanyard_has_named_users(const char *path, int descriptor);

/// Undoes what a parent may have left behind that a program can't work with: ignored ends of children, which would be
/// nobody's, and blocked signals. Writes beyond a limit of a file's size become errors.
void lanyard_settle(void);

/// Finds out whether threads and files can be had, in a few dozen microseconds: libraries hang or abort if there are none.
///
/// Returns 0, or the negative errno of what failed: -EAGAIN for threads, -EMFILE for files, or that of opening
/// `/dev/null`.
int lanyard_check_resources(int threads, int files);

/// Makes a file in memory with these bytes, for a library that reads only files; returns its descriptor, or a negative error number.
int lanyard_memory_file(const void *bytes, size_t count);

/// Keeps this process's memory out of core dumps and away from other programs of the same user.
///
/// Only the soft limit for core dumps is lowered: programs started from here may raise it again.
int lanyard_hide_memory(void);

/// Replaces this process with a program, which is found in PATH if its name has no slash; returns only on error.
///
/// execvpe(3) is a GNU extension, which Swift's Glibc leaves out.
int lanyard_exec(const char *program, char *const arguments[], char *const environment[]);

/// Starts the program at a path in a session of its own, in the folder `/`, with pipes as its standard input and
/// output, without standard error and without any other descriptor; returns 0 or the negative errno.
///
/// It isn't a child of this process. A program that replaces this process thus gets no child that it didn't start, and
/// no signal of its terminal reaches the started program. `streams` receives the ends to write to and to read from.
int lanyard_start_apart(
    const char *program, char *const arguments[], char *const environment[], int streams[2]);

/// Opens a descriptor that becomes readable when a process exits (pidfd_open(2), Linux 5.3).
int lanyard_process_open(int process);

/// Has a program that posix_spawn(3) starts with these file actions (a `posix_spawn_file_actions_t`) run in `/`.
int lanyard_spawn_in_root(void *actions);

/// Starts a program that nobody waits for, in a session of its own, and returns its process ID.
///
/// It reads these bytes from its standard input, inherits no other open file, runs in `/`, and handles all signals in
/// the default way. More bytes than a pipe holds are refused (-EMSGSIZE). `output` receives the end to read its
/// standard output from; null if nobody reads that. If the caller continues to run, it must reap the process.
int lanyard_detach(
    const char *program, char *const arguments[], char *const environment[], const void *bytes, size_t count,
    int *output);

// The terminal while a person types. In C: it is restored in a signal handler, where Swift must not run.

/// Has a terminal deliver input byte by byte and without echo, until it is given back.
///
/// SIGINT, SIGQUIT, SIGTERM and SIGHUP restore it first and then do what they did before. With `discards`, input that
/// was typed before is dropped.
int lanyard_terminal_take(int descriptor, int discards);

/// Keeps the terminal taken, so that what is typed doesn't show, until it is given back. If it is taken again, what was
/// typed meanwhile is dropped.
void lanyard_terminal_hold(void);

/// Restores the terminal if it was taken, discarding input that was typed but not read.
void lanyard_terminal_give_back(void);

// Sockets in the file system, whose calls need structures that are hard to fill in from Swift, and Linux's extensions
// of them.

/// Creates a socket at this path that only this user can connect to, and listens on it; returns its descriptor.
///
/// The path must not exist. Don't call this while another thread creates files.
int lanyard_socket_listen(const char *path, int backlog);

/// Connects to the socket at a path, waiting up to `milliseconds` while its queue of connections is full; returns a
/// non-blocking descriptor.
int lanyard_socket_connect(const char *path, int milliseconds);

/// Accepts the next connection without waiting; returns a non-blocking descriptor.
int lanyard_socket_accept(int listener);

/// Returns the user ID of the process at the other end: the one that connected, or that listens.
int64_t lanyard_socket_peer(int descriptor);

/// Creates a pipe that is non-blocking at the given end and isn't inherited by programs started from here.
int lanyard_pipe(int ends[2], int nonblocking_end);

/// Whether this process has a terminal now and SIGHUP ends it, which isn't the case with nohup(1).
int lanyard_ends_with_terminal(void);

/// Has SIGHUP, SIGINT, SIGTERM and SIGCHLD written to a pipe, one byte each.
int lanyard_signals_to(int descriptor);

struct sockaddr;

/// Returns the user ID of the owner of the TCP socket that is bound to one address and connected to the other, which
/// the kernel looks up by itself (sock_diag(7)).
///
/// -ESTALE if its process has closed it; -ENOENT if this network namespace has no such socket, but also if the kernel
/// has no such look-up.
int64_t lanyard_tcp_owner(const struct sockaddr *local, const struct sockaddr *remote);
