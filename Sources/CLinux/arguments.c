// In Swift's runtime, linked statically, CommandLine.arguments goes back from `environ` to find the arguments. A library
// that adds to the environment before main, as one of LD_PRELOAD may, moves `environ` elsewhere, and there are none.

void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

/// Tells the runtime the arguments; glibc passes them to every constructor.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
}
