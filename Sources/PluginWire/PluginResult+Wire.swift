package import Secrets

extension PluginResult {
    /// The result as a block.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("event", "result")
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
        try account.write(to: &writer)
        return writer.block
    }

    /// Reads a result.
    package init(_ reader: WireReader) throws(WireFault) {
        guard let lifetime = try reader.number("expires_in", in: Lifetime.range) else { throw .missing("expires_in") }
        let token = try reader.required("access_token", .secret)
        let account = try PluginAccount(reader)
        self.init(
            accessToken: Secret(token), expiresIn: lifetime, scopes: try reader.list("scope[]", .scope),
            account: account)
        tokenType = try reader.optional("token_type", .token(64)) ?? "Bearer"
        extendedExpiresIn = try reader.number("ext_expires_in", in: Lifetime.range)
        refreshIn = try reader.number("refresh_in", in: Lifetime.range)
        refreshToken = try reader.secret("refresh_token")
        familyID = try reader.optional("family_id", .token(64))
        idToken = try reader.secret("id_token")
        declinedScopes = try reader.list("declined_scope[]", .scope)
    }
}

extension PluginAccount {
    fileprivate func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("home_account_id", homeAccountID)
        try writer.put("environment", environment)
        try writer.put("realm", realm)
        try writer.put("username", username)
        try writer.put("name", name)
        try writer.put("local_account_id", localAccountID)
        try writer.put("authority_type", authorityType)
        try writer.put("client_info", clientInfo)
    }

    fileprivate init(_ reader: WireReader) throws(WireFault) {
        self.init(
            homeAccountID: try reader.required("home_account_id", .token(512)),
            environment: try reader.required("environment", .host),
            realm: try reader.required("realm", .token(256)),
            username: try reader.optional("username", .text(1024)) ?? "")
        name = try reader.optional("name", .text(1024))
        localAccountID = try reader.optional("local_account_id", .token(256))
        authorityType = try reader.optional("authority_type", .token(32)) ?? "MSSTS"
        clientInfo = try reader.optional("client_info", .base64URL)
    }
}

extension PluginDescription {
    /// The description as a result block.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("event", "result")
        try writer.put("name", name)
        try writer.put("version", version)
        try writer.put("protocol[]", list: protocols)
        try writer.put("flow[]", list: flows.map(\.rawValue))
        return writer.block
    }

    /// Reads a description.
    package init(_ reader: WireReader) throws(WireFault) {
        self.init(
            name: try reader.required("name", .token(64)), version: try reader.required("version", .token(64)),
            protocols: try reader.list("protocol[]", .token(64)),
            flows: try reader.list("flow[]", .token(64)).map(PluginRequest.Flow.init(rawValue:)))
    }
}
