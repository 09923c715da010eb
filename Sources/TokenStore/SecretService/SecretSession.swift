internal import Crypto
internal import Synchronization

/// A session of the Secret Service: the provider encrypts the secrets that it sends to this process, with a key that
/// nobody else on the bus can compute.
final class SecretSession: Sendable {
    /// What was agreed on.
    struct Opened {
        let path: String
        /// nil where the provider doesn't encrypt.
        let key: SymmetricKey?
    }

    private unowned let provider: ProviderConnection
    private let exchange: KeyExchange
    nonisolated(unsafe) private let reply: PendingCall
    private let opened = Mutex<Result<Opened, ProviderFailure>?>(nil)

    /// Asks for a session; the provider computes its key while this process does other things.
    init(of provider: ProviderConnection, seconds: Double) throws(ProviderFailure) {
        self.provider = provider
        exchange = try KeyExchange()
        reply = provider.begin(
            "OpenSession", [.text("dh-ietf1024-sha256-aes128-cbc-pkcs7"), .variant(.bytes(exchange.publicKey))],
            seconds: seconds)
    }

    /// Reads the secrets of unlocked items, all at once; one that can't be read is left out.
    func secrets(of paths: [String], _ watchdog: borrowing Watchdog) throws(ProviderFailure) -> [String: [UInt8]] {
        let opened = try finish().get()
        guard
            let entries = try provider.call("GetSecrets", [.paths(paths), .path(opened.path)], watchdog)?.child(0)
        else { return [:] }
        var secrets: [String: [UInt8]] = [:]
        for index in 0..<entries.count {
            guard let entry = entries.child(index), let path = entry.child(0)?.text, let secret = entry.child(1),
                let iv = secret.child(1)?.bytes, let text = secret.child(2)?.bytes
            else { continue }
            secrets[path] = if let key = opened.key { key.open(text, iv: iv) } else { text }
        }
        return secrets
    }

    /// Waits for the provider and computes the key, where that isn't done yet.
    @discardableResult
    func finish() -> Result<Opened, ProviderFailure> {
        opened.withLock { opened in
            if let opened { return opened }
            let result = Result { () throws(ProviderFailure) in try agree() }
            opened = result
            return result
        }
    }

    private func agree() throws(ProviderFailure) -> Opened {
        exchange.rehearse()
        guard let reply = try reply.wait(), let path = reply.child(1)?.text, let peer = reply.child(0)?.child(0)?.bytes
        else { throw .found(StoreError(.broken, detail: "the provider opened no session")) }
        return Opened(path: path, key: try exchange.key(with: peer))
    }
}
