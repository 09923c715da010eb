internal import CLinux
internal import Files
internal import Glibc

/// The process that provides the Secret Service.
public struct KeyringProvider: Sendable, Equatable {
    /// The process ID.
    public let processID: Int32

    /// The path of its program, which an update may have replaced since; nil if that can't be found out.
    public var program: String? {
        let path = FileStatus.linkTarget(of: "/proc/\(processID)/exe")
        return path.map { $0.hasSuffix(Self.replaced) ? String($0.dropLast(Self.replaced.count)) : $0 }
    }

    /// What the kernel adds to the path of a program that was replaced.
    private static let replaced = " (deleted)"

    /// The name of its program; nil if that can't be found out.
    public var programName: String? {
        if let program { return program.utf8.split(separator: UInt8(ascii: "/")).last.flatMap { String($0) } }
        // Only root may know the path of a program that keeps its memory to itself, as KeePassXC does.
        guard let name = Self.bytes("comm", of: processID) else { return nil }
        let text = String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return text == Self.gnomeKeyringCut ? Self.gnomeKeyring : text
    }

    /// The name of GNOME's daemon.
    public static let gnomeKeyring = "gnome-keyring-daemon"
    /// The same as the kernel shows it.
    private static let gnomeKeyringCut = String(gnomeKeyring.prefix(15))

    private static func bytes(_ file: String, of process: Int32) -> [UInt8]? {
        try? OpenFile("/proc/\(process)/\(file)").contents(atMost: 1 << 20)
    }
}

extension KeyringProvider {
    /// Returns the address of another bus on which a gnome-keyring-daemon of this user serves the same keyrings; nil if
    /// there is none, or if this isn't such a daemon.
    ///
    /// Each keeps all items in memory and writes all of them, so each overwrites what the other stored.
    public func rivalBus(environment: [String: String]) -> String? {
        guard programName == Self.gnomeKeyring else { return nil }
        return Self.bus(besides: environment) { $0.keyrings != nil && $0.keyrings == $1.keyrings }
    }

    /// Returns the address of the bus of a gnome-keyring-daemon of this user beside which none starts on this bus, because
    /// both would have the same socket below `XDG_RUNTIME_DIR`; nil if there is none.
    static func blockingBus(environment: [String: String]) -> String? {
        guard environment.absolutePath("XDG_RUNTIME_DIR") != nil else { return nil }
        return bus(besides: environment) { $0.runtime == $1.runtime }
    }

    /// Returns the address of another bus with a gnome-keyring-daemon of this user that has something in common with this
    /// process.
    private static func bus(
        besides environment: [String: String], where isShared: (Session, Session) -> Bool
    ) -> String? {
        let own = Session(environment)
        let processes = (try? Folder("/proc"))?.names(atMost: 1 << 16).compactMap { Int32($0) } ?? []
        return processes.lazy.compactMap { session(of: $0) }
            .first { $0.bus != own.bus && isShared($0, own) && isAlive($0.bus) }?.bus
    }

    /// The bus of a process, its runtime directory, and the folder of its keyrings.
    private struct Session {
        let bus: String
        let runtime: String
        let keyrings: String?

        init(_ environment: [String: String]) {
            // PAM starts the daemon without these variables.
            let folder = environment.absolutePath("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
            let announced = environment["DBUS_SESSION_BUS_ADDRESS"].flatMap { $0.isEmpty ? nil : $0 }
            let bus = announced ?? "unix:path=\(folder)/bus"
            // The same bus has the same address with and without its ID.
            self.bus = String(decoding: bus.utf8.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self)
            runtime = FileTrust.realPath(folder) ?? folder
            let data =
                environment.absolutePath("XDG_DATA_HOME")
                ?? environment.absolutePath("HOME").map { $0 + "/.local/share" }
            keyrings = data.flatMap { FileTrust.realPath($0 + "/keyrings") }
        }
    }

    /// Returns a process's session if it is a gnome-keyring-daemon of this user's; nil if that isn't shown.
    private static func session(of process: Int32) -> Session? {
        guard FileStatus(of: "/proc/\(process)")?.isOwn == true,
            KeyringProvider(processID: process).programName == gnomeKeyring,
            let variables = bytes("environ", of: process)
        else { return nil }
        let pairs = variables.split(separator: 0).compactMap { variable -> (String, String)? in
            let parts = variable.split(separator: UInt8(ascii: "="), maxSplits: 1)
            return parts.count == 2
                ? (String(decoding: parts[0], as: UTF8.self), String(decoding: parts[1], as: UTF8.self)) : nil
        }
        return Session(Dictionary(pairs) { first, _ in first })
    }

    /// Whether somebody listens at a bus's address; those that aren't paths count as such.
    private static func isAlive(_ bus: String) -> Bool {
        let prefix = "unix:path="
        guard bus.hasPrefix(prefix) else { return true }
        let socket = lanyard_socket_connect(String(bus.dropFirst(prefix.count)), 1000)
        guard socket >= 0 else { return false }
        close(socket)
        return true
    }
}
