#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

struct start {
    void *(*body)(void *);
    void *argument;
    cpu_set_t allowed;
    int is_elsewhere;
};

static void *begin(void *pointer) {
    struct start start = *(struct start *)pointer;
    free(pointer);
    // Threads that are started from here are free to begin anywhere.
    if (start.is_elsewhere) sched_setaffinity(0, sizeof start.allowed, &start.allowed);
    return start.body(start.argument);
}

// Whether there are other CPUs than this one.
static int find_others(cpu_set_t *allowed, cpu_set_t *others) {
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof *allowed, allowed) < 0) return 0;
    *others = *allowed;
    CPU_CLR(here, others);
    return CPU_COUNT(others) > 0;
}

int lanyard_thread_start(void *(*body)(void *), void *argument) {
    struct start *start = malloc(sizeof *start);
    if (start == NULL) return ENOMEM;
    cpu_set_t others;
    *start = (struct start){.body = body, .argument = argument};
    start->is_elsewhere = find_others(&start->allowed, &others);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (start->is_elsewhere) pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, begin, start);
    pthread_attr_destroy(&attributes);
    if (error != 0) free(start);
    return error;
}
