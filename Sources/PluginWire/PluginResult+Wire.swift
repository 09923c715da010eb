package import Secrets

extension PluginResult: PluginAnswer {
    /// Writes the result.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("access_token", accessToken)
        try writer.put("token_type", tokenType)
        try writer.put("expires_in", expiresIn)
        try writer.put("ext_expires_in", extendedExpiresIn)
        try writer.put("refresh_in", refreshIn)
        try writer.put("refresh_token", refreshToken)
        try writer.put("family_id", familyID)
        try writer.put("id_token", idToken)
        try writer.put("scope[]", list: scopes)
        try writer.put("declined_scope[]", list: declinedScopes)
        try writer.put("environment", environment)
        try writer.put("realm", realm)
        try account?.write(to: &writer)
        try writer.put("basic_username", basicUsername)
        try memo?.write(to: &writer)
    }

    /// Parses the result of an operation that returns tokens.
    ///
    /// Every operation except `authenticate` has an account. `authenticate` and `silent` return no refresh token.
    package init(_ reader: WireReader, of operation: PluginRequest.Operation) throws(WireFault) {
        let token = try reader.required("access_token", .secret)
        let isSomebodys = operation != .authenticate
        let strange =
            isSomebodys ? operation == .silent ? ["refresh_token"] : [] : ["home_account_id", "refresh_token"]
        for key in strange where reader.block[key]?.isEmpty == false { throw .unexpected(key) }
        self.init(
            accessToken: Secret(token), expiresIn: try reader.number("expires_in", in: Lifetime.range),
            scopes: try reader.list("scope[]", .scope), environment: try reader.required("environment", .host),
            realm: try reader.required("realm", .token(256)),
            account: isSomebodys ? try PluginAccount(reader) : nil)
        tokenType = try reader.optional("token_type", .token(64)) ?? "Bearer"
        extendedExpiresIn = try reader.number("ext_expires_in", in: Lifetime.range)
        refreshIn = try reader.number("refresh_in", in: Lifetime.range)
        refreshToken = try reader.secret("refresh_token")
        familyID = try reader.optional("family_id", .token(64))
        idToken = try reader.secret("id_token")
        declinedScopes = try reader.list("declined_scope[]", .scope)
        basicUsername = try reader.optional("basic_username", .basicUsername)
        memo = try PluginMemo(reader)
    }
}

extension PluginAccount {
    fileprivate func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("home_account_id", homeAccountID)
        try writer.put("home_realm[]", list: homeRealms)
        try writer.put("account_kind", kind)
        try writer.put("username", username)
        try writer.put("name", name)
        try writer.put("local_account_id", localAccountID)
        try writer.put("authority_type", authorityType)
        try writer.put("client_info", clientInfo)
    }

    fileprivate init(_ reader: WireReader) throws(WireFault) {
        self.init(
            homeAccountID: try reader.required("home_account_id", .token(512)),
            username: try reader.optional("username", .text(1024)) ?? "")
        homeRealms = try reader.list("home_realm[]", .token(256), limit: 16)
        kind = try reader.optional("account_kind", .text(64))
        name = try reader.optional("name", .text(1024))
        localAccountID = try reader.optional("local_account_id", .token(256))
        authorityType = try reader.optional("authority_type", .token(32)) ?? "Other"
        clientInfo = try reader.optional("client_info", .base64URL)
    }
}

extension PluginCredential: PluginAnswer {
    /// Writes the credential.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("username", username)
        try writer.put("secret", secret)
        try writer.put("expires_in", expiresIn)
        try writer.put("refresh_in", refreshIn)
        try writer.put("field[]", fields: fields)
        try memo?.write(to: &writer)
    }

    /// Parses a credential.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            username: try reader.optional("username", .basicUsername).map { Secret($0) },
            secret: try reader.optional("secret", .text(65_535)).map { Secret($0) },
            fields: try reader.fields("field[]"), expiresIn: try reader.number("expires_in", in: Lifetime.range))
        guard secret != nil || !fields.isEmpty else { throw .missing("secret or field[]") }
        refreshIn = try reader.number("refresh_in", in: Lifetime.range)
        memo = try PluginMemo(reader)
    }
}

extension PluginMemo {
    fileprivate func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("memo", text)
        try writer.put("memo_expires_in", expiresIn)
    }

    /// Parses a memo; nil if the result has none.
    fileprivate init?(_ reader: WireReader) throws(WireFault) {
        guard let text = try reader.optional("memo", .memo) else { return nil }
        guard let lifetime = try reader.number("memo_expires_in", in: Lifetime.ofMemo) else {
            throw .missing("memo_expires_in")
        }
        self.init(text, expiresIn: lifetime)
    }
}

extension WireForm {
    /// A user name for HTTP's Basic scheme (RFC 7617, 2): any text without a colon.
    package static let basicUsername = WireForm(limit: 1024) { name in
        text(1024).accepts(name) && !name.utf8.contains(UInt8(ascii: ":"))
    }
}

extension PluginProbe: PluginAnswer {
    /// Writes the findings.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("checked[]", list: checks.map(\.rawValue))
        try writer.put("time", time)
        try writer.put("proxy", proxy)
        try writer.put("summary", message: summary)
        try writer.put("account[]", list: accounts)
    }

    /// Parses the findings.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            try reader.list("checked[]", .token(64)).map(Check.init(rawValue:)),
            time: try reader.number("time", in: Lifetime.ofClocks),
            proxy: try reader.optional("proxy", .token(271)))
        summary = try reader.message("summary")
        accounts = try reader.list("account[]", .text(1024))
    }
}

extension PluginDescription: PluginAnswer {
    /// Writes the description.
    package func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("name", name)
        try writer.put("version", version)
        try writer.put("protocol[]", list: protocols)
        try writer.put("flow[]", list: flows.map(\.rawValue))
        try writer.put("identity[]", list: identities.map(\.rawValue))
        try writer.put("exchange[]", list: exchanges)
    }

    /// Parses a description.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            name: try reader.required("name", .token(64)), version: try reader.required("version", .token(64)),
            protocols: try reader.list("protocol[]", .token(64)),
            flows: try reader.list("flow[]", .token(64)).map(PluginRequest.Flow.init(rawValue:)),
            identities: try reader.list("identity[]", .token(64)).map(PluginIdentity.Kind.init(rawValue:)),
            exchanges: try reader.list("exchange[]", .token(64)))
    }
}
