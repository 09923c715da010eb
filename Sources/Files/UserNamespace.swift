package import Glibc

/// The user namespace of this process (user_namespaces(7)): the machine's own, or that of a container or a helper that a user
/// runs without being root.
package enum UserNamespace {
    /// Ranges of users: the first one here, the same one outside, and their number; nil if they can't be read.
    static let ranges: [[UInt32]]? = {
        guard let map = try? OpenFile("/proc/self/uid_map").contents(atMost: 64 * 1024) else { return nil }
        let ranges = map.split(separator: UInt8(ascii: "\n")).map { line in
            line.split(separator: UInt8(ascii: " ")).compactMap { UInt32(String(decoding: $0, as: UTF8.self)) }
        }
        return ranges.allSatisfy { $0.count == 3 } ? ranges : nil
    }()

    /// Whether it is the machine's own.
    package static var isMachines: Bool { ranges.map { $0 == [[0, 0, .max]] } ?? true }

    /// This process's user, as the machine knows them.
    package static var user: uid_t {
        let user = geteuid()
        let own = ranges?.first { $0[0] <= user && user - $0[0] < $0[2] }
        return own.map { $0[1] + (user - $0[0]) } ?? user
    }
}
