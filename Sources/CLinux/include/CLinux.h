#pragma once

#include <stddef.h>
#include <stdint.h>

// The system calls that Swift can't make by itself: syscall(2) and prctl(2) are variadic. Each of these functions gives
// what its call gives, or the negative errno.

/// Finds a key of type "user" by its description in the user's keyring, @u, and gives its serial number.
int32_t lanyard_key_find(const char *description);

/// Puts a key of type "user" into the user's keyring in place of the one with the same description.
///
/// Only this user's processes can find, read and replace it; the kernel drops it after so many seconds.
int32_t lanyard_key_put(const char *description, const void *bytes, size_t count, uint32_t seconds);

/// Reads a key's bytes and gives how many there are, which may be more than fit.
long lanyard_key_read(int32_t key, void *bytes, size_t capacity);

/// Takes a key away for good.
long lanyard_key_revoke(int32_t key);

/// Keeps this process's memory from core dumps and from other programs of the same user.
///
/// The limit for core dumps is lowered softly: programs started from here may raise it again.
int lanyard_hide_memory(void);

/// Runs a program in this process's place, found in PATH if its name holds no slash; comes back only to say why not.
///
/// execvpe(3) is a GNU extension, which Swift's Glibc leaves out.
int lanyard_exec(const char *program, char *const arguments[], char *const environment[]);

/// Starts a program at a path as nobody's child, in a session of its own, in the folder `/`, with pipes as its standard
/// input and output, nowhere to complain to, and no other descriptor; gives 0 or the negative errno.
///
/// So a program that takes this process's place has no child that it didn't start, and no signal of its terminal
/// reaches what was started. `streams` gets the ends to write to and to read from.
int lanyard_start_apart(
    const char *program, char *const arguments[], char *const environment[], int streams[2]);

/// Opens what tells, by becoming readable, that a process has ended (pidfd_open(2), Linux 5.3).
int lanyard_process_open(int process);

/// Starts a program that nobody waits for, in a session of its own, and gives its process ID.
///
/// It reads these bytes from its standard input, has no other open file of this process, works in `/`, and handles all signals
/// in the usual way. More bytes than a pipe takes are refused (-EMSGSIZE). Whoever lives on must wait for the process.
int lanyard_detach(
    const char *program, char *const arguments[], char *const environment[], const void *bytes, size_t count);

// The terminal while a person types on it. In C, for a signal must find the way back, and no Swift may run in its handler.

/// Has a terminal hand over what is typed byte by byte and unseen, until it is given back.
///
/// SIGINT, SIGQUIT, SIGTERM and SIGHUP restore it first and then do what they did before. With `discards`, what was typed
/// ahead is dropped.
int lanyard_terminal_take(int descriptor, int discards);

/// Gives the terminal back as it was, if it was taken, less what has been typed and not read.
void lanyard_terminal_give_back(void);

// Sockets in the file system, whose calls take structures that Swift can't fill in simply, and what Linux adds to them.

/// Makes a socket of this path that this user alone can connect to, and listens on it; gives its descriptor.
///
/// Whatever has the path must have been removed. Not to be called while another thread makes files.
int lanyard_socket_listen(const char *path, int backlog);

/// Connects to the socket of a path, without waiting for it; gives a descriptor that never blocks.
int lanyard_socket_connect(const char *path);

/// Takes the next connection, without waiting for it; gives a descriptor that never blocks.
int lanyard_socket_accept(int listener);

/// Whose process is at the other end: the one that connected, or that listens.
int64_t lanyard_socket_peer(int descriptor);

/// Makes a pipe that never blocks at the end named, and that no program started from here gets.
int lanyard_pipe(int ends[2], int nonblocking_end);

/// Has the kernel send this process SIGTERM when its parent ends; an error if that has ended already.
int lanyard_end_with(int32_t parent);

/// Whether this process has a terminal now, and whoever started it lets its end, SIGHUP, end it, too, as nohup(1) doesn't.
int lanyard_ends_with_terminal(void);

/// Has SIGHUP, SIGINT, SIGTERM and SIGCHLD written to a pipe, as a byte each.
int lanyard_signals_to(int descriptor);
