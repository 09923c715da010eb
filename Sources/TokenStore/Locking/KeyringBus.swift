internal import Addresses
internal import Files

/// The session bus that an environment names, which decides whose keyring is used.
enum KeyringBus {
    /// Returns the same name for all environments that lead to the same bus, without asking it.
    ///
    /// A bus is recognised by its socket, however its address is written: processes outside of the desktop may have
    /// another one, or none.
    static func name(in environment: [String: String]) -> String {
        var address = environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
        if address.isEmpty {
            let folder = environment.ownRuntimeFolder ?? environment.sharedRuntimeFolder
            address = folder.map { "unix:path=\($0)/bus" } ?? ""
        }
        let first = address.pieces(between: ";").first ?? ""
        let parts = (first.cut(at: ":")?.1 ?? "").pieces(between: ",")
        guard let path = parts.lazy.compactMap({ $0.cut(at: "=") }).first(where: { $0.0 == "path" })?.1,
            let socket = FileStatus(of: String(path))
        else { return parts.filter { !$0.hasPrefix("guid=") }.joined(separator: ",") }
        return "\(socket.device) \(socket.inode)"
    }
}
