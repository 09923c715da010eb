import Addresses
internal import Files

/// The accounts that the person chose, the last choice first: which of several is meant if nothing names one.
///
/// A file of lines `HOME-ACCOUNT-ID ENVIRONMENT [AUTHORITY]`; without an authority the choice is for all. It holds no name
/// and no secret, and what is wrong in it only means that nothing was chosen: a line that is none is passed over, a file
/// that others may write is not read.
public struct SelectionFile: Sendable, Equatable {
    /// The file's path.
    public let path: String
    private let folder: String
    private let answers: AnswerCache?

    /// How many choices are kept: an account has one for each authority that it was chosen for.
    public static let most = 128
    private static let name = "selection"
    /// The longest file that is read: more than as many lines as there may be, each as long as it may be.
    private static let longest = 1 << 18
    /// How long to wait for another process that changes the file.
    ///
    /// A process that holds it for longer has been stopped: what it would write is then overwritten.
    private static let patience = Duration.seconds(2)

    /// The selection of a device in its mode; nil if the environment has no place for it.
    ///
    /// - Parameters:
    ///   - environment: `XDG_STATE_HOME` or `HOME` counts; on a shared device `XDG_RUNTIME_DIR`, gone at log-out.
    ///   - isShared: whether the device is shared.
    ///   - answers: what was answered before: every change takes it away.
    public init?(environment: [String: String], isShared: Bool, answers: AnswerCache? = nil) {
        guard let folder = Self.folder(environment, isShared: isShared) else { return nil }
        self.folder = folder
        self.answers = answers
        path = "\(folder)/\(Self.name)"
    }

    private static func folder(_ environment: [String: String], isShared: Bool) -> String? {
        isShared ? environment.absolutePath("XDG_RUNTIME_DIR").map { "\($0)/lanyard" } : environment.stateFolder
    }

    /// The choices, the last one first.
    public func read() -> [SelectedAccount] {
        guard let folder = try? opened() else { return [] }
        return Self.accounts(in: folder)
    }

    /// Puts a choice first.
    public func select(_ account: SelectedAccount) throws(SelectionError) {
        try change { $0 = [account] + $0.filter { $0 != account } }
    }

    /// Puts a choice last, if it isn't there yet.
    public func append(_ account: SelectedAccount) throws(SelectionError) {
        try change { if !$0.contains(account) { $0 = $0.prefix(Self.most - 1) + [account] } }
    }

    /// Takes choices out.
    public func remove(_ isGone: (SelectedAccount) -> Bool) throws(SelectionError) {
        do throws(FileProblem) {
            _ = try opened()
        } catch {
            // What was never kept need not be taken out.
            guard !error.isMissing else { return }
            throw SelectionError(path: folder, reason: error.reason)
        }
        try change { $0.removeAll(where: isGone) }
    }

    /// Changes the choices as they are while no other process does.
    private func change(_ body: (inout [SelectedAccount]) -> Void) throws(SelectionError) {
        Folder.make(folder)
        do throws(FileProblem) {
            let folder = try opened()
            _ = try? folder.lock(within: Self.patience)
            let before = Self.accounts(in: folder)
            var accounts = before
            body(&accounts)
            guard accounts != before else { return }
            let lines = accounts.prefix(Self.most).map(\.line).joined()
            // The answers go before, so that a process killed here leaves none that the change would have taken away.
            answers?.forget()
            defer { answers?.forget() }
            Draft.removeStale(in: folder)
            try folder.write(Array(lines.utf8), to: Self.name, isDurable: true)
        } catch {
            throw SelectionError(path: folder, reason: error.reason)
        }
    }

    /// The folder; nobody but this user can put anything into it.
    private func opened() throws(FileProblem) -> Folder {
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
