import Addresses
import OAuth

/// `X-AnchorMailbox`, which routes a request to the account's data centre.
enum AnchorMailbox {
    static let name = "x-anchormailbox"

    static func header(uid: String, utid: String) -> String? {
        uid.isPathName && utid.isPathName ? "Oid:\(uid)@\(utid)" : nil
    }

    /// Returns the header for a home account ID.
    static func header(account: String?) -> String? {
        guard let halves = account?.pieces(between: "."), halves.count == 2 else { return nil }
        return header(uid: String(halves[0]), utid: String(halves[1]))
    }

    /// Returns the header for an authorization response's `client_info`.
    static func header(response: AuthorizationResponse) -> String? {
        guard let info = response["client_info"].flatMap(ClientInfo.init), let uid = info.uid,
            let utid = info.utid
        else { return nil }
        return header(uid: uid, utid: utid)
    }
}
