import Foundation
import Testing

/// The entry point of the tests' process.
///
/// Without a file of this name, Swift Package Manager generates one, and for that it looks for XCTest tests in an index
/// of the whole build, which takes a third of the build's time. There are none: all tests use Swift Testing.
@main struct TestsProcess {
    /// The variables that tests read, and `PATH`, where the compiler is; Swift Testing's own begin with the prefix.
    private static let variables = [
        "LANYARD_CLIENTS", "LANYARD_ISSUERS", "LANYARD_NEWER_CLIENTS", "LANYARD_NEWER_GIT", "LANYARD_PROVIDERS",
        "LANYARD_RECORD", "LANYARD_SCREENSHOTS", "LANYARD_SYSTEMS", "LANYARD_TESTED", "LANYARD_TEST_KEYRING",
        "LANYARD_TEST_ROUNDS", "NO_COLOR", "PATH",
    ]

    static func main() async {
        // Nothing else of whoever runs the tests may decide how they end.
        for name in ProcessInfo.processInfo.environment.keys where !variables.contains(name) && !name.hasPrefix("SWT_")
        {
            unsetenv(name)
        }
        for (name, value) in ["HOME": "/nonexistent", "LANG": "C.UTF-8"] {
            setenv(name, value, 1)
        }
        umask(0o022)
        // `swift test --filter` asks this first. An empty list would make it report that nothing matches.
        if CommandLine.arguments.contains("--dump-tests-json") {
            let error = "error: there are no tests of XCTest's"
            let hint = "hint: script/test --filter, or add --enable-swift-testing"
            for line in [error, hint] { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
            exit(1)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
