import Claims
package import Secrets

extension PluginRequest {
    /// Encodes the request as a message, without a grease key.
    ///
    /// - Throws: `ProtocolError` if a value has a line feed or NUL, or is longer than a line.
    package func wire() throws(ProtocolError) -> Attributes {
        var writer = WireWriter()
        try writer.put("operation", operation.rawValue)
        try writer.put("authority", authority)
        try writer.put("kind", kind)
        try writer.put("client_id", clientID)
        try writer.put("client_name", clientName)
        try writer.put("purpose", purpose)
        try writer.put("client_secret", clientSecret)
        try endpoints.write(to: &writer)
        try writer.put("redirect_uri", redirectURI)
        try writer.put("scope[]", list: scopes)
        try writer.put("resource[]", list: resources)
        try writer.put("flow[]", list: flows.map(\.rawValue))
        for parameter in Self.signInParameters { try writer.put(parameter.wireKey, list: signIn.texts(of: parameter)) }
        try writer.put("claims", claims)
        try writer.put("capability[]", list: capabilities.map(\.rawValue))
        try writer.put("account", account)
        try writer.put("time_limit", timeLimit)
        try writer.put("refresh_token", refreshToken)
        try writer.put("id_token_hint", idTokenHint)
        try identity?.write(to: &writer)
        try writer.put("exchange", exchange)
        try writer.put("audience", audience)
        try writer.put("audience_path", audiencePath)
        try writer.put("access_token", accessToken)
        try writer.put("registration_uri", registration?.uri)
        try writer.put("registration_token", registration?.token)
        try writer.put("memo", memo)
        try network.write(to: &writer)
        try writer.put("known_host[]", list: knownHosts)
        try writer.put("issuer_host[]", list: issuerHosts)
        try writer.put("correlation_id", correlationID)
        return writer.block
    }

    /// Parses a request.
    ///
    /// - Throws: `unsupported` for an operation that this version doesn't know, `invalid-request` if a key is missing
    ///   or its value is invalid.
    package init(wire block: Attributes) throws(PluginError) {
        guard let name = block["operation"] else { throw PluginError(.invalidRequest, "the request has no operation") }
        guard let operation = Operation(rawValue: name) else {
            throw PluginError(.unsupported, "this plugin does not know the operation \(name.displayable(limit: 40))")
        }
        self.init(operation)
        do throws(WireFault) {
            try read(WireReader(block))
        } catch {
            throw PluginError(.invalidRequest, "the request has \(error.text)")
        }
    }

    private mutating func read(_ reader: WireReader) throws(WireFault) {
        guard operation != .describe else { return }
        try readAuthority(reader)
        scopes = try reader.list("scope[]", .scope)
        resources = try reader.list("resource[]", .resource)
        flows = try reader.list("flow[]", .token(64)).map(Flow.init(rawValue:))
        try readSignIn(reader)
        clientName = try reader.optional("client_name", .text(1024))
        purpose = try reader.optional("purpose", .text(2048))
        claims = try reader.optional("claims", .text(32_768))
        capabilities = try reader.list("capability[]", .token(64)).map(Capability.init(rawValue:))
        account = try reader.optional("account", .token(512))
        timeLimit = try reader.number("time_limit", in: Lifetime.ofRequest)
        refreshToken = try reader.secret("refresh_token")
        idTokenHint = try reader.secret("id_token_hint")
        memo = try reader.optional("memo", .memo)
        network = try PluginNetwork(reader)
        knownHosts = try reader.list("known_host[]", .host, limit: 1024)
        issuerHosts = try reader.list("issuer_host[]", .host)
        correlationID = try reader.optional("correlation_id", .token(64))
        switch operation {
        case .renew where refreshToken == nil, .revoke where refreshToken == nil: throw .missing("refresh_token")
        case .authenticate, .silent: accessToken = try reader.secret("access_token")
        case .exchange: try readExchange(reader)
        case .unregister:
            registration = try PluginRegistration.Management(reader)
            if registration == nil { throw .missing("registration_uri") }
        default: break
        }
    }

    /// Parses the authority, its client and the identity; a machine's identity has neither an authority nor a client.
    private mutating func readAuthority(_ reader: WireReader) throws(WireFault) {
        if [.authenticate, .exchange, .probe].contains(operation) { identity = try PluginIdentity(reader) }
        if operation == .authenticate, identity == nil { throw .missing("identity") }
        clientSecret = try reader.optional("client_secret", .text(4096)).map { Secret($0) }
        try identity?.check(clientSecret: clientSecret)
        redirectURI = try reader.optional("redirect_uri", .token(2048))
        kind = try reader.optional("kind", .token(64))
        endpoints = try PluginEndpoints(reader)
        if operation == .register {
            authority = try reader.required("authority", .securePage)
        } else if let identity, identity.kind != .client {
            authority = try reader.optional("authority", .securePage) ?? ""
            clientID = try reader.optional("client_id", .token(256)) ?? ""
        } else {
            authority = try reader.required("authority", .securePage)
            clientID = try reader.required("client_id", .token(256))
        }
    }

    /// The parameters that are sent; the port is part of the redirect URI.
    private static let signInParameters = SignInParameter.allCases.filter { $0 != .redirectPort }

    private mutating func readSignIn(_ reader: WireReader) throws(WireFault) {
        for parameter in Self.signInParameters {
            do throws(SignInParameterError) {
                try signIn.take([parameter: parameter.texts(in: reader.block)])
            } catch {
                throw .invalid(parameter.wireKey)
            }
        }
    }

    private mutating func readExchange(_ reader: WireReader) throws(WireFault) {
        exchange = try reader.required("exchange", .token(64))
        audience = try reader.required("audience", .host)
        audiencePath = try reader.optional("audience_path", .text(2048))
        accessToken = try reader.secret("access_token")
        guard accessToken != nil else { throw .missing("access_token") }
    }
}
