import Files
import Glibc
import SystemPackage
import Terminal

extension FileProblem {
    /// Returns what to do if a file in a folder can't be written; `listing` shows who may.
    func hint(_ listing: ShellCommand, in folder: String) -> Hint {
        let folder = sequence(first: folder, next: FileTrust.parent).first { $0 == "/" || access($0, F_OK) == 0 } ?? "/"
        return switch self {
        case .refused(Errno(rawValue: ENOSPC)), .refused(Errno(rawValue: EDQUOT)):
            Hint("make room there", run: "df -h\(last: folder)")
        case .refused(Errno(rawValue: EROFS)): Hint("see what is mounted there", run: "findmnt -T\(last: folder)")
        default: Hint("see who owns it", run: listing)
        }
    }
}
