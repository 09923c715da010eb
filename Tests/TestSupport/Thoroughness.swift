import Foundation

/// The number of rounds in tests with random timing and order.
package enum Thoroughness {
    /// The factor for the default number of rounds: `LANYARD_TEST_ROUNDS`, else 1.
    package static let factor = ProcessInfo.processInfo.environment["LANYARD_TEST_ROUNDS"].flatMap { Int($0) } ?? 1
}
