internal import Addresses

/// What was granted for a while: an access token, or what one was exchanged for.
package protocol GrantedRecord {
    var homeAccountID: String? { get }
    var environment: String { get }
    var realm: String { get }
    var target: String { get }
    var cachedAt: Int { get }
    var expiresOn: Int? { get }
    var refreshOn: Int? { get }
    var requestedRealm: String? { get }
}

extension AccessTokenRecord: GrantedRecord {}
extension ExchangedRecord: GrantedRecord {}

extension GrantedRecord {
    /// Whether the token was requested from an authority whose URL has this realm.
    package func wasRequested(in realm: String) -> Bool {
        requestedRealm?.lowercased().pieces(between: " ").contains { $0.isSame(as: realm.lowercased()) } ?? false
    }

    /// Whether it expires after a time in seconds since 1970; true if its expiry isn't known.
    package func lives(after time: Int) -> Bool { expiresOn.map { $0 > time } ?? true }

    /// The scopes in `target`.
    package var scopes: [String] { target.pieces(between: " ").map(String.init) }
}
