import Addresses
import Claims
import Glibc
import JSON
import Keyring
import Secrets

extension OtherCache {
    /// Parses a cache of ADAL for Python, such as accessTokens.json of the Azure CLI before 2.30; nil if it isn't a
    /// list.
    ///
    /// Only the refresh tokens are still useful. An entry identifies its account by `oid` and `tenantId`, or else by
    /// the claims of its access token.
    public init?(adal bytes: [UInt8]) {
        guard case .array(let entries)? = JSONValue(bytes: bytes, atMost: Self.mostBytes) else { return nil }
        self.init()
        for entry in entries { ADALEntry(entry: entry).add(to: &self) }
    }
}

private struct ADALEntry {
    let entry: JSONValue

    /// Adds the refresh token and its account, or the reason why it can't become a record.
    func add(to cache: inout OtherCache) {
        func reject(_ reason: SkipReason, what: String = "refresh token", whose: String? = nil) {
            cache.rejects.append(.init(what: what, whose: whose ?? text("userId") ?? "", reason: reason))
        }
        if entry["servicePrincipalId"] != nil {
            return reject(.ownerless, what: "application's secret", whose: text("servicePrincipalId"))
        }
        guard let secret = text("refreshToken"), let client = text("_clientId"),
            let host = authorityHost, let userID = text("userId")
        else { return reject(.malformed) }
        guard entry["isMRRT"] != .bool(false) else { return reject(.oneResource) }
        guard let (object, tenant) = owner else { return reject(.malformed) }
        guard isAtHome(tenant) else { return reject(.guest) }
        let home = "\(object).\(tenant)"
        var token = RefreshTokenRecord(
            homeAccountID: home, environment: host, clientID: client, secret: Secret(secret),
            familyID: text("foci"))
        token.lastModificationTime = issued
        let isShown = entry["isUserIdDisplayable"] != .bool(false)
        var account = AccountRecord(
            homeAccountID: home, environment: host, realm: tenant, username: isShown ? userID : "")
        account.localAccountID = object
        let names = [text("givenName"), text("familyName")].compactMap(\.self)
        if !names.isEmpty { account.name = names.joined(separator: " ") }
        cache.records += [.refreshToken(token), CredentialRecord.account(account).asItsPluginTellsIt]
    }

    private func text(_ name: String) -> String? {
        entry[name]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The host of an authority that names a tenant.
    private var authorityHost: String? {
        guard let url = text("_authority").flatMap({ StrictURL(https: $0) }), !url.segments.isEmpty else {
            return nil
        }
        return url.hostText
    }

    /// The object ID and the tenant, from the entry or its access token.
    private var owner: (object: String, tenant: String)? {
        if let object = text("oid"), let tenant = text("tenantId") { return (object, tenant) }
        guard let object = claims?["oid"]?.string, let tenant = claims?["tid"]?.string else { return nil }
        return (object, tenant)
    }

    /// Whether the tenant is the account's home; a guest's identity provider differs.
    private func isAtHome(_ tenant: String) -> Bool {
        guard let provider = text("identityProvider") ?? claims?["idp"]?.string else { return true }
        return provider.lowercased().hasBytes(tenant.lowercased())
    }

    private var claims: JSONValue? { text("accessToken").flatMap { WebToken.claims(of: $0) } }

    /// When the tokens were issued.
    private var issued: Int? {
        guard let end = text("expiresOn").flatMap({ Self.seconds($0) }) else { return nil }
        let (start, isAbsurd) = end.subtractingReportingOverflow(entry["expiresIn"]?.wholeNumber ?? 0)
        return isAbsurd ? nil : start
    }

    /// Parses a time as Python prints it, in the machine's local time: the seconds since 1970 of `YYYY-MM-DD HH:MM:SS[.ffffff]`; nil for anything else.
    private static func seconds(_ text: String) -> Int? {
        let parts = text.pieces(between: " ")
        guard parts.count == 2 else { return nil }
        let days = parts[0].pieces(between: "-").map { Int32($0) }
        let hours = (parts[1].cut(at: ".")?.0 ?? parts[1]).pieces(between: ":").map { Int32($0) }
        guard days.count == 3, hours.count == 3, let year = days[0], let month = days[1], let day = days[2],
            let hour = hours[0], let minute = hours[1], let second = hours[2], (1970...9999).contains(year),
            (1...12).contains(month), (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        var moment = tm()
        (moment.tm_year, moment.tm_mon, moment.tm_mday) = (year - 1900, month - 1, day)
        (moment.tm_hour, moment.tm_min, moment.tm_sec) = (hour, minute, second)
        // The library determines whether daylight saving time applied.
        moment.tm_isdst = -1
        let seconds = mktime(&moment)
        return seconds < 0 ? nil : Int(seconds)
    }
}
