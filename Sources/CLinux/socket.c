#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int failed(int descriptor) {
    int number = errno;
    if (descriptor >= 0) close(descriptor);
    return -number;
}

static int make_socket(const char *path, struct sockaddr_un *address, int flags) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    return made < 0 ? -errno : made;
}

int lanyard_socket_listen(const char *path, int backlog) {
    struct sockaddr_un address;
    int made = make_socket(path, &address, SOCK_NONBLOCK);
    if (made < 0) return made;
    // Only this user can access the socket from the moment it exists.
    mode_t mask = umask(0177);
    int bound = bind(made, (struct sockaddr *)&address, sizeof address);
    int number = errno;
    umask(mask);
    errno = number;
    if (bound < 0 || listen(made, backlog) < 0) return failed(made);
    return made;
}

int lanyard_socket_connect(const char *path, int milliseconds) {
    struct sockaddr_un address;
    int made = make_socket(path, &address, 0);
    if (made < 0) return made;
    struct timeval patience = {milliseconds / 1000, milliseconds % 1000 * 1000};
    int connected = setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connected < 0) return failed(made);
    do connected = connect(made, (struct sockaddr *)&address, sizeof address);
    while (connected < 0 && errno == EINTR);
    if (connected < 0 || fcntl(made, F_SETFL, O_NONBLOCK) < 0) return failed(made);
    return made;
}

int lanyard_socket_accept(int listener) {
    int taken = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return taken < 0 ? -errno : taken;
}

int64_t lanyard_socket_peer(int descriptor) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return -errno;
    return peer.uid;
}

int lanyard_pipe(int ends[2], int nonblocking_end) {
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    return fcntl(ends[nonblocking_end], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

int lanyard_end_with(int32_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0) return -errno;
    return getppid() == parent ? 0 : -ESRCH;
}

int lanyard_ends_with_terminal(void) {
    struct sigaction action;
    if (sigaction(SIGHUP, NULL, &action) < 0 || action.sa_handler == SIG_IGN) return 0;
    int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) return 0;
    close(terminal);
    return 1;
}

static int signal_pipe = -1;

static void tell(int number) {
    int saved = errno;
    char byte = (char)number;
    (void)!write(signal_pipe, &byte, 1);
    errno = saved;
}

int lanyard_signals_to(int descriptor) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGCHLD};
    struct sigaction action = {.sa_handler = tell, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    signal_pipe = descriptor;
    for (size_t index = 0; index < sizeof numbers / sizeof *numbers; index++) {
        if (sigaction(numbers[index], &action, NULL) < 0) return -errno;
    }
    return 0;
}
