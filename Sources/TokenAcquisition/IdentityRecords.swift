import PluginHost
import Rules
import Secrets
import TokenStore

/// The tokens of applications and machines, and what they were exchanged for.
///
/// They are in the keyring or, if it is absent, locked or fails, among the remembered answers. Most machines that identities work on have
/// no keyring, and a token can be acquired again. So it is no error here if the keyring can't be used, and nobody is asked to unlock
/// it. If neither keeps a token, each process acquires its own.
struct IdentityRecords: Sendable {
    /// The keyring, which never asks the user.
    let keyring: any RecordStore
    /// What is used without a keyring; nil for nothing.
    let remembered: RememberedTokens?
    let clock: @Sendable () -> Int

    /// Returns what is stored at a place, and what is remembered for the request and for the token that it exchanges.
    ///
    /// `known` is what was read from the keyring earlier; nil to read it now.
    func records(
        for request: TokenRequest, at place: AuthorityPlace, among known: StoredRecords? = nil
    ) -> StoredRecords {
        var records = known ?? inKeyring(place)
        for needed in request.exchange == nil ? [request] : [request, request.withoutExchange] {
            if let record = remembered?.record(of: needed.owner(at: place), now: clock()) { records.append(record) }
        }
        return records
    }

    /// Stores a token or the result of an exchange.
    func keep(_ record: CredentialRecord, for request: TokenRequest, at place: AuthorityPlace) {
        do throws(StoreError) {
            try keyring.save([record])
        } catch {
            remembered?.keep(record, of: request.owner(at: place), now: clock())
        }
    }

    /// Drops the token, or the result of an exchange, that a server refused; nil stands for the current one.
    ///
    /// - Throws: An error if it is in the keyring and can't be deleted there.
    func drop(_ refused: Secret?, for request: TokenRequest, at place: AuthorityPlace) throws(StoreError) {
        func isMeant(_ record: CredentialRecord) -> Bool {
            switch record {
            case .accessToken(let token) where request.exchange == nil && token.homeAccountID == nil:
                refused.map { $0 == token.secret } ?? token.serves(request)
            case .exchanged(let result) where result.homeAccountID == nil:
                result.serves(request) && refused.map { $0 == result.secret } ?? true
            default: false
            }
        }
        let owner = request.owner(at: place)
        if let remembered, remembered.record(of: owner, now: clock()).map(isMeant) == true { remembered.forget(owner) }
        let dropped = inKeyring(place).all.filter(isMeant)
        if !dropped.isEmpty { _ = try keyring.deleteUnchanged(dropped) }
    }

    private func inKeyring(_ place: AuthorityPlace) -> StoredRecords {
        (try? keyring.records(matching: RecordQuery(environments: place.aliases))) ?? StoredRecords()
    }
}

extension TokenRequest {
    /// The owner and purpose of an identity's token at a place, or of the result of its exchange.
    func owner(at place: AuthorityPlace) -> [String] {
        let token = [
            place.environment, place.realm, clientID.lowercased(),
            scopes.map { $0.lowercased() }.sorted().joined(separator: " "), resourceKey ?? "",
        ]
        return token + (exchange.map { [$0.name, $0.audience.lowercased(), $0.path] } ?? [])
    }
}
