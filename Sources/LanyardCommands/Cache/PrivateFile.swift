import Addresses
import Files
import Secrets
import Terminal

/// A file that only its owner can read, and that is written completely or not at all.
struct PrivateFile {
    let path: String

    /// Replaces the user's own file of that name; never follows a link or replaces another user's file.
    func write(_ contents: [UInt8]) throws(Failure) {
        let name = path.cut(atLast: "/").map { String($0.1) } ?? path
        do throws(FileProblem) {
            let folder = try Folder(FileTrust.parent(of: path))
            if let status = folder.status(of: name), !status.isRegular || !status.isOwn { throw .irregular }
            // The draft of an export that was killed contains refresh tokens, too.
            Draft.removeStale(in: folder)
            try folder.write(contents, to: name, isDurable: true)
        } catch .irregular {
            throw Failure(
                "\(path.displayable(limit: 500)) is not a regular file that you own",
                hints: [Hint("name another", write: "--output FILE")])
        } catch {
            throw Failure("\(path.displayable(limit: 500)) can't be written: \(error.reason)")
        }
    }
}
