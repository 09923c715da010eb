#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
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

// Copies an address and its port for a question to the kernel; false if it isn't IP.
static int put_address(const struct sockaddr *address, __be32 *words, __be16 *port) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        memcpy(words, &four.sin_addr, sizeof four.sin_addr);
        *port = four.sin_port;
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        memcpy(words, &six.sin6_addr, sizeof six.sin6_addr);
        *port = six.sin6_port;
    } else {
        return 0;
    }
    return 1;
}

int64_t lanyard_tcp_owner(const struct sockaddr *local, const struct sockaddr *remote) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 socket;
    } question;
    memset(&question, 0, sizeof question);
    question.header.nlmsg_len = sizeof question;
    question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.header.nlmsg_flags = NLM_F_REQUEST;
    question.socket.sdiag_family = local->sa_family;
    question.socket.sdiag_protocol = IPPROTO_TCP;
    question.socket.idiag_states = ~0u;
    struct inet_diag_sockid *ends = &question.socket.id;
    ends->idiag_cookie[0] = ends->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (local->sa_family != remote->sa_family || !put_address(local, ends->idiag_src, &ends->idiag_sport)
        || !put_address(remote, ends->idiag_dst, &ends->idiag_dport))
        return -EAFNOSUPPORT;
    int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (kernel < 0) return -errno;
    // Without an address, a message goes to the kernel, which answers before the call returns.
    if (send(kernel, &question, sizeof question, 0) < 0) return failed(kernel);
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    struct sockaddr_nl from;
    socklen_t size = sizeof from;
    ssize_t count = recvfrom(kernel, &answer, sizeof answer, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    if (count < 0) return failed(kernel);
    close(kernel);
    if (from.nl_pid != 0 || !NLMSG_OK(&answer.header, (size_t)count)) return -EBADMSG;
    if (answer.header.nlmsg_type == NLMSG_ERROR && answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr)))
        return ((struct nlmsgerr *)NLMSG_DATA(&answer.header))->error;
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY
        || answer.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
        return -EBADMSG;
    struct inet_diag_msg *found = NLMSG_DATA(&answer.header);
    // If there is no such connection, the kernel names a listener at the same port.
    if (found->idiag_state == TCP_LISTEN) return -ENOENT;
    return found->idiag_inode == 0 ? -ESTALE : (int64_t)found->idiag_uid;
}
