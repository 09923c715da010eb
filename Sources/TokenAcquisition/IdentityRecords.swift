import Addresses
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

    /// Forgets the remembered token, or the remembered result of an exchange, if it has one of these fingerprints.
    ///
    /// - Returns: Whether it had.
    func forget(_ fingerprints: Set<String>, for request: TokenRequest, at place: AuthorityPlace) -> Bool {
        let owners = [request, request.withoutExchange].map { $0.owner(at: place) }.filter { owner in
            var records = StoredRecords()
            if let record = remembered?.record(of: owner, now: clock()) { records.append(record) }
            return records.hasToken(fingerprints)
        }
        for owner in owners { remembered?.forget(owner) }
        return !owners.isEmpty
    }

    /// Returns every record in the keyring; nil if it can't be used.
    func all() -> StoredRecords? { try? keyring.records(matching: .all) }

    private func inKeyring(_ place: AuthorityPlace) -> StoredRecords {
        (try? keyring.records(matching: RecordQuery(environments: place.aliases))) ?? StoredRecords()
    }
}

extension TokenRequest {
    /// The owner and purpose of an identity's token at a place, or of the result of its exchange.
    func owner(at place: AuthorityPlace) -> [String] {
        let token = [
            place.environment, place.realm, clientID.clientKey,
            scopes.map { $0.lowercased() }.sorted().joined(separator: " "), resourceKey ?? "",
        ]
        return token + (exchange.map { [$0.name, $0.audience.lowercased(), $0.path] } ?? [])
    }
}
