internal import Crypto
internal import Synchronization

/// A session of the Secret Service: the provider encrypts the secrets that it sends to this process, with a key that
/// nobody else on the bus can compute.
///
/// With a provider that can't encrypt, as with libsecret, secrets pass the bus as they are.
final class SecretSession: Sendable {
    private enum Outcome {
        /// Without a key the provider doesn't encrypt.
        case opened(path: String, key: SymmetricKey?)
        case failed(ProviderFailure)
    }

    private unowned let provider: ProviderConnection
    private let exchange: KeyExchange
    // Used with the outcome's lock held.
    nonisolated(unsafe) private let reply: PendingCall
    private let seconds: Double
    private let outcome = Mutex<Outcome?>(nil)

    /// Asks for a session; the provider computes its key while this process does other things.
    ///
    /// - Parameters:
    ///   - provider: what is asked, which keeps the session.
    ///   - seconds: how long it may take.
    /// - Throws: where there is no memory or library for a key; what the provider says comes later.
    init(of provider: ProviderConnection, seconds: Double) throws(ProviderFailure) {
        self.provider = provider
        self.seconds = seconds
        try SecretLibrary.openForSecrets()
        exchange = try KeyExchange()
        reply = provider.begin(
            "OpenSession", [.text("dh-ietf1024-sha256-aes128-cbc-pkcs7"), .variant(.bytes(exchange.publicKey))],
            giving: Self.type, .seconds(seconds))
    }

    /// Reads the secrets of unlocked items, all at once; one that can't be read is left out.
    func secrets(of paths: [String], _ patience: Patience) throws(ProviderFailure) -> [String: [UInt8]] {
        switch decided() {
        case .opened(let session, let key):
            let call = provider.begin(
                "GetSecrets", [.paths(paths), .path(session)], giving: "(a{o(oayays)})", patience)
            return Self.secrets(try call.wait()?.child(0), key)
        case .failed(let failure): throw failure
        }
    }

    /// Waits for the provider and computes the key, where that isn't done yet.
    func finish() { _ = decided() }

    private func decided() -> Outcome {
        outcome.withLock { outcome in
            if let outcome { return outcome }
            let decided: Outcome
            do throws(ProviderFailure) {
                decided = try agree()
            } catch {
                decided = .failed(error)
            }
            outcome = decided
            return decided
        }
    }

    private func agree() throws(ProviderFailure) -> Outcome {
        exchange.rehearse()
        let reply: Variant?
        do throws(ProviderFailure) {
            reply = try self.reply.wait()
        } catch  where error.isNotSupported {
            let plain = provider.begin(
                "OpenSession", [.text("plain"), .variant(.text(""))], giving: Self.type, .seconds(seconds))
            return .opened(path: try Self.path(in: plain.wait()), key: nil)
        }
        let peer = reply?.child(0)?.child(0)?.bytes ?? []
        return .opened(path: try Self.path(in: reply), key: try exchange.key(with: peer))
    }

    /// What `OpenSession` gives back.
    private static let type = "(vo)"

    /// The session's path in what `OpenSession` gave back: the provider's public key, and that.
    private static func path(in reply: consuming Variant?) throws(ProviderFailure) -> String {
        guard let path = reply?.child(1)?.text else {
            throw .found(StoreError(.broken, detail: "the provider opened no session"))
        }
        return path
    }

    /// Reads a table of paths and secrets: each the session, the parameters, the text and its type.
    private static func secrets(_ entries: consuming Variant?, _ key: SymmetricKey?) -> [String: [UInt8]] {
        guard let entries else { return [:] }
        var secrets: [String: [UInt8]] = [:]
        for index in 0..<entries.count {
            guard let entry = entries.child(index), let path = entry.child(0)?.text, let secret = entry.child(1),
                let iv = secret.child(1)?.bytes, let text = secret.child(2)?.bytes
            else { continue }
            secrets[path] = if let key { key.open(text, iv: iv) } else { text }
        }
        return secrets
    }
}
