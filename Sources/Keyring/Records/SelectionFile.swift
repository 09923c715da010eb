import Addresses
public import AnswerCache
package import Files

/// The accounts that the user chose, the most recent first; they decide among several if nothing names one.
///
/// The file has lines `HOME-ACCOUNT-ID ENVIRONMENT [AUTHORITY]`; without an authority, the choice is for all. It
/// contains no names and no secrets. Errors only mean that nothing was chosen: an invalid line is skipped, and a file
/// that others may write isn't read.
public struct SelectionFile: Sendable, Equatable {
    /// The file's path.
    public let path: String
    /// The folder that it is in, as the environment names it.
    package let folder: String
    private let answers: AnswerCache?

    /// The highest number of choices that are stored; an account has one for each authority that it was chosen for.
    public static let most = 128
    private static let name = "selection"
    /// The longest file that is read, in bytes: more than the highest number of lines of the greatest length.
    private static let longest = 1 << 18
    /// How long to wait for another process that changes the file.
    ///
    /// A process that holds it for longer has been stopped; its change is then overwritten.
    private static let patience = Duration.seconds(2)

    /// Creates the selection of a personal or shared device; nil if the environment has no place for it.
    ///
    /// - Parameters:
    ///   - environment: `XDG_STATE_HOME` or `HOME` matters; on a shared device `XDG_RUNTIME_DIR`, which is removed at
    ///     log-out.
    ///   - isShared: Whether the device is shared.
    ///   - answers: The cache of answers, which every change clears.
    public init?(environment: [String: String], isShared: Bool, answers: AnswerCache? = nil) {
        guard let folder = Self.folder(environment, isShared: isShared) else { return nil }
        self.folder = folder
        self.answers = answers
        path = "\(folder)/\(Self.name)"
    }

    private static func folder(_ environment: [String: String], isShared: Bool) -> String? {
        isShared ? environment.absolutePath("XDG_RUNTIME_DIR").map { "\($0)/lanyard" } : environment.stateFolder
    }

    /// Reads the choices, the most recent first.
    public func read() -> [SelectedAccount] {
        guard let folder = try? opened() else { return [] }
        return Self.accounts(in: folder)
    }

    /// Puts a choice first.
    package func select(_ account: SelectedAccount) throws(FileError) {
        try change { $0 = [account] + $0.filter { $0 != account } }
    }

    /// Puts a choice last, if it isn't in the file yet.
    package func append(_ account: SelectedAccount) throws(FileError) {
        try change { if !$0.contains(account) { $0 = $0.prefix(Self.most - 1) + [account] } }
    }

    /// Removes choices.
    package func remove(_ isGone: (SelectedAccount) -> Bool) throws(FileError) {
        do throws(FileError) {
            _ = try opened()
        } catch {
            // A missing file has nothing to remove.
            guard !error.isMissing else { return }
            throw error
        }
        try change { $0.removeAll(where: isGone) }
    }

    /// Changes the current choices while no other process does.
    private func change(_ body: (inout [SelectedAccount]) -> Void) throws(FileError) {
        Folder.make(folder)
        let folder = try opened()
        _ = try? folder.lock(within: Self.patience)
        let before = Self.accounts(in: folder)
        var accounts = before
        body(&accounts)
        guard accounts != before else { return }
        let lines = accounts.prefix(Self.most).map(\.line).joined()
        // Clear the answers first, too: if the process is killed here, none must remain that the change invalidates.
        answers?.forget()
        defer { answers?.forget() }
        Draft.removeStale(in: folder)
        try folder.write(Array(lines.utf8), to: Self.name, isDurable: true)
    }

    /// Opens the folder; only this user can write to it.
    private func opened() throws(FileError) -> Folder {
        let folder = try Folder(folder)
        try folder.requireOwn(closedTo: 0o022)
        return folder
    }

    private static func accounts(in folder: borrowing Folder) -> [SelectedAccount] {
        guard let bytes = try? folder.read(name, atMost: longest, closedTo: 0o022),
            let text = String(validating: bytes, as: UTF8.self)
        else { return [] }
        var accounts: [SelectedAccount] = []
        for line in text.pieces(between: "\n") where accounts.count < most {
            guard let account = SelectedAccount(line: line), !accounts.contains(account) else { continue }
            accounts.append(account)
        }
        return accounts
    }
}

/// An account that the user chose, as stored in the selection: lower-cased identifiers, never a user name.
public struct SelectedAccount: Sendable, Hashable {
    /// The account's `uid.utid`.
    public let homeAccountID: String
    /// The authority's host.
    public let environment: String
    /// The path of the authority that the account was chosen for, such as `/contoso.com`; nil if it is for all.
    public let authority: String?

    /// Creates a choice from identifiers; nil if one of them can't be stored in a line.
    public init?(homeAccountID: String, environment: String, authority: String? = nil) {
        guard Self.isIdentifier(homeAccountID, atMost: 512), Self.isIdentifier(environment, atMost: 256) else {
            return nil
        }
        if let authority {
            guard authority.utf8.first == UInt8(ascii: "/"), Self.isIdentifier(authority, atMost: 520) else {
                return nil
            }
        }
        self.homeAccountID = homeAccountID.lowercased()
        self.environment = environment.lowercased()
        self.authority = authority?.lowercased()
    }

    /// Creates a choice of a record's account.
    public init?(_ account: AccountRecord, authority: String? = nil) {
        self.init(homeAccountID: account.homeAccountID, environment: account.environment, authority: authority)
    }

    /// Parses a line of the file.
    init?(line: Substring) {
        let words = line.pieces(between: " ", omittingEmpty: false).map(String.init)
        guard (2...3).contains(words.count) else { return nil }
        self.init(homeAccountID: words[0], environment: words[1], authority: words.count == 3 ? words[2] : nil)
    }

    /// The line for the file.
    var line: String { [homeAccountID, environment, authority].compactMap(\.self).joined(separator: " ") + "\n" }

    private static func isIdentifier(_ text: String, atMost limit: Int) -> Bool {
        !text.isEmpty && text.utf8.count <= limit && text.utf8.allSatisfy(\.isVisibleASCII)
    }
}
