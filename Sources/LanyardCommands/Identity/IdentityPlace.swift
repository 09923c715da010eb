import Rules
import Terminal

extension ConfigurationTables {
    /// Throws if an identity couldn't be written.
    ///
    /// - Throws: `Failure` also if there already is one with the name.
    func requireRoom(forIdentity name: String) throws(Failure) {
        guard !Identity.builtIn.contains(where: { $0.name == name }) else {
            throw Failure(
                "the identity \(name) is built in", hints: ["choose another name, or use it as it is"], status: .usage)
        }
        if let other: Identity = try table(where: { $0.name == name }) { throw taken(by: other) }
    }

    /// Adds an identity to the file, unless it already has one with the name.
    func write(_ identity: Identity) throws(Failure) {
        if let other = try add(identity, unless: { $0.name == identity.name }) { throw taken(by: other) }
    }

    private func taken(by other: Identity) -> Failure {
        Failure(
            "there is an identity \(other.name) already, at \(other.place(context))",
            hints: [
                Hint(
                    "change it there, or remove it first",
                    run: "lanyard identity remove\(flag: "--system", if: scope == .system) \(other.name)")
            ])
    }
}
