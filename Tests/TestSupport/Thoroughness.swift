import Foundation

/// How much tests with random moments and orders try.
package enum Thoroughness {
    /// What they do by default is done so many times: `LANYARD_TEST_ROUNDS`, else 1.
    package static let factor = ProcessInfo.processInfo.environment["LANYARD_TEST_ROUNDS"].flatMap { Int($0) } ?? 1
}
