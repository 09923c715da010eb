internal import Glibc
package import SystemPackage

/// The reason why a file or folder isn't used.
package enum FileError: Error, Equatable, Sendable {
    /// The system refused the operation.
    case refused(Errno)
    /// It isn't a regular file or a folder, as required.
    case irregular
    /// It belongs to another user.
    case foreign
    /// Others have permissions that only its owner should have.
    case exposed
    /// It is longer than the limit.
    case tooLong
    /// Another process has locked it.
    case locked

    /// Whether it doesn't exist.
    package var isMissing: Bool { self == .missing || self == .refused(.notDirectory) }

    /// Whether a user with other permissions could do it.
    package var lacksPermission: Bool { self == .refused(.permissionDenied) || self == .refused(.notPermitted) }

    /// The reason in few words, for the end of a message.
    package var reason: String {
        switch self {
        case .refused(let number): number.description
        case .irregular: "it is not a regular file"
        case .foreign: "it belongs to another user"
        case .exposed: "other users can write to it"
        case .tooLong: "it is too long"
        case .locked: "another process has locked it"
        }
    }

    /// There is no such file or folder.
    package static let missing = FileError.refused(.noSuchFileOrDirectory)

    /// The last system error on this thread.
    package static var last: FileError { .refused(Errno(rawValue: errno)) }
}

/// Repeats a system call that a signal interrupted.
@discardableResult
func asking(_ call: () -> Int) throws(FileError) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        guard errno == EINTR else { throw .last }
    }
}
