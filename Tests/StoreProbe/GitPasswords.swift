internal import Addresses
internal import Glibc
internal import Keyring
internal import Secrets

/// A minimal git helper for the password store.
struct GitPasswords {
    private let store: PasswordStore

    init(_ store: PasswordStore) {
        self.store = store
    }

    func run(_ arguments: ProbeArguments) throws {
        var parser = AttributeParser(longestInput: 1 << 20)
        let blocks = try parser.consume(readInput())
        guard let input = try blocks.first ?? parser.finish(), let query = query(of: input) else { return }
        switch arguments.operation {
        case "get":
            guard let found = try store.get(query, now: Int(time(nil))) else { return }
            print(answer(found, query), terminator: "")
        case "store":
            guard let password = password(of: input) else { return }
            try store.store(password, for: query)
        default: _ = try store.erase(query)
        }
    }

    private func query(of input: Attributes) -> PasswordQuery? {
        guard let scheme = input["protocol"], let host = input["host"] else { return nil }
        var query = PasswordQuery(scheme: scheme, host: host, path: input["path"], username: input["username"])
        query.password = input["password"].map { Secret($0) }
        query.credential = input["credential"].map { Secret($0) }
        query.acceptsAuthtype = input.list("capability[]").contains("authtype")
        query.reach = ["above": .above, "below": .below][input["reach"] ?? ""] ?? .place
        return query
    }

    private func password(of input: Attributes) -> StoredPassword? {
        guard input["ephemeral"] != "1" else { return nil }
        let proof: StoredPassword.Proof
        if let type = input["authtype"], let credential = input["credential"] {
            proof = .authorization(type: type, credential: Secret(credential))
        } else if let password = input["password"], input["username"] != nil {
            proof = .password(Secret(password))
        } else {
            return nil
        }
        return StoredPassword(
            username: input["username"], proof: proof, expiresOn: input["password_expiry_utc"].flatMap(Int.init),
            oauthRefreshToken: input["oauth_refresh_token"].map { Secret($0) })
    }

    private func answer(_ found: StoredPassword, _ query: PasswordQuery) -> String {
        var lines: [String] = []
        if case .authorization(let type, let credential) = found.proof {
            lines += ["capability[]=authtype", "authtype=\(type)", "credential=\(credential.reveal())"]
        }
        if let username = found.username { lines.append("username=\(username)") }
        if case .password(let password) = found.proof { lines.append("password=\(password.reveal())") }
        if let expiresOn = found.expiresOn { lines.append("password_expiry_utc=\(expiresOn)") }
        if let token = found.oauthRefreshToken { lines.append("oauth_refresh_token=\(token.reveal())") }
        return lines.map { $0 + "\n" }.joined()
    }
}
