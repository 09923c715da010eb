import Addresses
import Files
import Secrets
import SystemPackage

/// The files that prove to the agent of Azure Arc that a caller may get tokens.
///
/// A program that listens on the agent's port in its place could name any file and would receive its contents.
/// Therefore lanyard reads only files that the agent can have written.
package struct ChallengeFiles: Sendable {
    private static let folder = "/var/opt/azcmagent/tokens"
    private static let largestFile = 4096

    /// The root folder for the machine's files; empty for `/`.
    let root: String

    /// Returns a file's contents without the line ending.
    ///
    /// - Throws: `invalidResponse` if the agent can't have written the file, `unavailable` if it can't be read.
    func contents(of path: String) throws(IdentityError) -> Secret {
        guard let name = Self.name(in: path) else {
            throw AzureArc.invalid("names a file that isn't one of its keys", status: 401)
        }
        let bytes: [UInt8]
        do throws(FileProblem) {
            bytes = try Folder(root + Self.folder).readForeign(name, atMost: Self.largestFile)
        } catch {
            throw Self.error(for: error)
        }
        let text = String(decoding: bytes, as: UTF8.self).trimmed(of: "\r\n")
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw AzureArc.invalid("has a key that can't be sent", status: 401)
        }
        return Secret(String(text))
    }

    /// Returns the name of a key file directly in the folder; nil for any other path.
    private static func name(in path: String) -> String? {
        guard let (parent, name) = path.cut(atLast: "/"), parent.isSame(as: folder),
            name.utf8.allSatisfy(\.isVisibleASCII), let (stem, suffix) = name.cut(atLast: "."),
            !stem.isEmpty, suffix == "key"
        else { return nil }
        return String(name)
    }

    private static func error(for problem: FileProblem) -> IdentityError {
        let words = "the key of \(Platform.arc.words) can't be read: \(problem.reason)"
        switch problem {
        case .refused(.tooManySymbolicLinkLevels), .irregular, .tooLong:
            return AzureArc.invalid("has a key that is no regular file of at most \(largestFile) bytes", status: 401)
        case _ where problem.lacksPermission:
            return IdentityError(
                .unavailable, words, hint: "add this user to the group himds, then log in anew, or ask as root")
        default: return IdentityError(.unavailable, words, hint: "check that the agent runs: see azcmagent show")
        }
    }
}
