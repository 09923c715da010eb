#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

// One terminal at a time, because a process has only one. The handler may run between any two instructions, so
// `terminal` is set last and cleared first.
static volatile atomic_int terminal = -1;
static struct termios before;
// Whether nobody reads for now, and the next who takes the terminal goes on from here.
static atomic_int held;

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
enum { signal_count = sizeof signals / sizeof *signals };
static struct sigaction previous[signal_count];

static int restore_settings(int how) {
    int descriptor = atomic_exchange(&terminal, -1);
    if (descriptor < 0) return 0;
    int result = tcsetattr(descriptor, how, &before);
    close(descriptor);
    return result;
}

static void restore_and_pass_on(int number, siginfo_t *info, void *context) {
    int error = errno;
    restore_settings(TCSANOW);
    for (int i = 0; i < signal_count; i++) {
        if (signals[i] != number) continue;
        if (previous[i].sa_flags & SA_SIGINFO) {
            previous[i].sa_sigaction(number, info, context);
        } else if (previous[i].sa_handler != SIG_DFL) {
            previous[i].sa_handler(number);
        } else {
            // This is delivered as soon as the handler returns, and ends the process as it would have.
            sigaction(number, &previous[i], NULL);
            raise(number);
        }
    }
    errno = error;
}

int lanyard_terminal_take(int descriptor, int discards) {
    int expected = 1;
    if (atomic_compare_exchange_strong(&held, &expected, 0)) return tcflush(descriptor, TCIFLUSH) < 0 ? -errno : 0;
    if (atomic_load(&terminal) >= 0) return -EBUSY;
    if (tcgetattr(descriptor, &before) < 0) return -errno;
    // Whoever took it may close theirs while it is held.
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return -errno;
    for (int i = 0; i < signal_count; i++) {
        sigaction(signals[i], NULL, &previous[i]);
        if (!(previous[i].sa_flags & SA_SIGINFO) && previous[i].sa_handler == SIG_IGN) continue;
        struct sigaction action = {.sa_sigaction = restore_and_pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
    atomic_store(&terminal, own);
    struct termios settings = before;
    // Byte by byte, because the kernel's own lines end at 4,095 bytes; Ctrl-C stays a signal, Ctrl-Z has no effect.
    settings.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    settings.c_cc[VSUSP] = _POSIX_VDISABLE;
    if (tcsetattr(descriptor, discards ? TCSAFLUSH : TCSADRAIN, &settings) == 0) return 0;
    int error = errno;
    lanyard_terminal_give_back();
    return -error;
}

void lanyard_terminal_hold(void) {
    if (atomic_load(&terminal) >= 0) atomic_store(&held, 1);
}

void lanyard_terminal_give_back(void) {
    atomic_store(&held, 0);
    restore_settings(TCSAFLUSH);
    for (int i = 0; i < signal_count; i++) {
        struct sigaction current;
        sigaction(signals[i], NULL, &current);
        if (!(current.sa_flags & SA_SIGINFO) || current.sa_sigaction != restore_and_pass_on) continue;
        sigaction(signals[i], &previous[i], NULL);
    }
}
