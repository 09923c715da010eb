import Foundation
import Testing

/// Where the tests' process begins.
///
/// Without a file of this name Swift Package Manager writes one, and looks for XCTest's tests in an index of the whole
/// build for that, which takes a third of the build's time. There are none: all tests are Swift Testing's.
@main struct TestsProcess {
    static func main() async {
        // What `swift test --filter` asks first. A list of none would make it say that nothing matches.
        if CommandLine.arguments.contains("--dump-tests-json") {
            let error = "error: there are no tests of XCTest's"
            let hint = "hint: script/test --filter, or add --enable-swift-testing"
            for line in [error, hint] { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
            exit(1)
        }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
