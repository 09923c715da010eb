extension KeyringSession {
    /// Returns the labels of the collections that are locked while the default one isn't; nil if that is locked, too, or
    /// if there is none.
    package func lockedBesideDefault() throws(ServiceFailure) -> [String]? {
        guard let path = try collectionPath(), try isCollectionLocked(at: path) == false else { return nil }
        let service = "org.freedesktop.Secret.Service"
        guard let all = try property("Collections", of: "/org/freedesktop/secrets", service) else { return [] }
        var labels: [String] = []
        var index = 0
        while let path = all.child(index)?.path {
            index += 1
            guard try isCollectionLocked(at: path) == true else { continue }
            labels.append(try property("Label", of: path, Self.collection)?.text ?? "")
        }
        return labels
    }
}
