// If Swift's runtime is linked statically, CommandLine.arguments finds the arguments by going back from `environ`. A
// library that adds to the environment before main, for example through LD_PRELOAD, moves `environ`, and then there are
// none.

void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);

/// Passes the arguments, which glibc gives to every constructor, to the runtime.
__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
    _swift_stdlib_overrideUnsafeArgvArgc(arguments, count);
}
