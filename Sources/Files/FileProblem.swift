internal import Glibc
package import SystemPackage

/// Why a file or folder isn't used.
package enum FileProblem: Error, Equatable, Sendable {
    /// The system refuses.
    case refused(Errno)
    /// It is no regular file, or no folder, though one is expected.
    case irregular
    /// It belongs to another user.
    case foreign
    /// Others may do with it what only its owner should.
    case exposed
    /// It holds more than is read.
    case tooLong

    /// Whether nothing is there.
    package var isMissing: Bool { self == .refused(.noSuchFileOrDirectory) || self == .refused(.notDirectory) }

    /// Whether somebody with other rights could do it.
    package var lacksPermission: Bool { self == .refused(.permissionDenied) || self == .refused(.notPermitted) }

    /// The problem in few words, after which nothing follows.
    package var reason: String {
        switch self {
        case .refused(let number): number.description
        case .irregular: "it is not a regular file"
        case .foreign: "it belongs to another user"
        case .exposed: "other users can write to it"
        case .tooLong: "it is too long"
        }
    }

    /// What the system said last, on this thread.
    package static var last: FileProblem { .refused(Errno(rawValue: errno)) }
}

/// Asks the system again as long as a signal comes in between.
@discardableResult
func asking(_ call: () -> Int) throws(FileProblem) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw .last }
    }
}
