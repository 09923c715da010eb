import Rules
import SettingsFile
import Terminal

extension Session {
    /// The identity of a name; what the variables describe, if it is that one.
    func identity(named name: String) throws(Failure) -> Identity {
        do throws(ResolutionError) { return try configuration.identity(named: name) } catch {
            throw Failure(error, in: context)
        }
    }

    /// Refuses to make an identity that could not be written.
    ///
    /// - Throws: `Failure` also if there is one of the name already.
    func requireRoom(forIdentity name: String) throws(Failure) {
        try requireIdentitiesUnlocked()
        guard !Identity.builtIn.contains(where: { $0.name == name }) else {
            throw Failure(
                "the identity \(name) is built in", hints: ["choose another name, or use it as it is"], status: .usage)
        }
        try changingIdentities { file throws(SettingsError) in
            try file.requireWritable()
            return file.identity(named: name)
        }.map { other throws(Failure) in throw taken(by: other) }
    }

    /// Writes an identity into the file, unless it has one of the name.
    func write(_ identity: Identity) throws(Failure) {
        try requireIdentitiesUnlocked()
        try changingIdentities { file throws(SettingsError) in
            if let other = file.identity(named: identity.name) { return other }
            try file.add(identity, schema: InstalledFiles(context).schema)
            return nil
        }.map { other throws(Failure) in throw taken(by: other) }
    }

    /// Takes the identity of a name out of the file.
    ///
    /// - Returns: whether there was one.
    func removeIdentity(named name: String) throws(Failure) -> Bool {
        try requireIdentitiesUnlocked()
        let removed = try changingIdentities { file throws(SettingsError) in
            guard let identity = file.identity(named: name) else { return nil }
            try file.remove(identity)
            return identity
        }
        return removed != nil
    }

    private func taken(by other: Identity) -> Failure {
        let system = scope == .system
        return Failure(
            "there is an identity \(other.name) already, at \(other.place(context))",
            hints: [
                Hint(
                    "change it there, or remove it first",
                    run: "lanyard identity remove\(flag: "--system", if: system) \(other.name)")
            ])
    }

    private func changingIdentities(
        _ change: (TableFile<Identity>) throws(SettingsError) -> Identity?
    ) throws(Failure) -> Identity? {
        do throws(SettingsError) {
            return try change(try TableFile<Identity>(reading: fileToChange()))
        } catch {
            guard scope == .system, error.lacksPermission else { throw Failure(error) }
            throw Failure(error.description, hints: [context.asRoot])
        }
    }

    /// Refuses to change identities of the user's that the system's policy locks.
    private func requireIdentitiesUnlocked() throws(Failure) {
        guard scope == .user, configuration.isLocked("identity") else { return }
        throw Failure(
            "identities are locked by \(Configuration.systemFile)", hints: ["ask whoever administers this machine"])
    }
}

extension Identity {
    /// `FILE:LINE`, for people; `built in` if it has no table.
    func place(_ context: CommandContext) -> String {
        file.isEmpty ? "built in" : context.short(file) + (line.map { ":\($0)" } ?? "")
    }
}
