public import Claims
public import Secrets

/// The host's request to a plugin: one message on its standard input (docs/plugin-protocol.md, REQUEST).
public struct PluginRequest: Sendable, Equatable {
    /// The operations of a plugin.
    public enum Operation: String, Sendable, CaseIterable {
        /// Acquire tokens with the user's help.
        case authorize
        /// Redeem a refresh token silently.
        case renew
        /// Get a token silently from a broker, another program that holds a sign-in.
        case silent
        /// End the session at the authority.
        case signOut = "sign-out"
        /// Revoke a refresh token silently.
        case revoke
        /// Register an application at the authority silently.
        case register
        /// Delete an application that was just registered, silently.
        case unregister
        /// Acquire a token as an application or a machine, silently.
        case authenticate
        /// Exchange a token for the credential that a resource accepts.
        case exchange
        /// Look up a credential for a place, without an authority, an account or an app.
        case lookup
        /// Check whether the authority can be reached, silently and without acquiring a token.
        case probe
        /// Return the name, version, protocol versions and flows.
        case describe
    }

    /// A way for the user to sign in; a plugin may define further flows.
    public struct Flow: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a flow with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Authorization code with PKCE in a browser, with a loopback redirect (RFC 8252).
        public static let browser = Flow(rawValue: "browser")
        /// A code that is shown here and entered on another device (RFC 8628).
        public static let deviceCode = Flow(rawValue: "device-code")
        /// Authorization code with PKCE in a browser anywhere; the user pastes the address that it ends at.
        public static let paste = Flow(rawValue: "paste")
        /// A window of this machine's broker.
        public static let broker = Flow(rawValue: "broker")
    }

    /// An ability of the caller that authorities may rely on.
    public struct Capability: RawRepresentable, Sendable, Hashable {
        /// The name in the protocol.
        public let rawValue: String
        /// Creates a capability with any name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// If a server refuses the token and asks for claims, the next request includes them.
        public static let claimsChallenge = Capability(rawValue: "claims-challenge")
    }

    /// The operation.
    public var operation: Operation
    /// The authority's URL as configured: https, without a trailing slash; empty in `describe` and for a managed identity.
    public var authority = ""
    /// The application's client ID (RFC 6749, 2.2); empty if there is no authority, or no application yet.
    public var clientID = ""
    /// The application's display name; nil if the host doesn't know it.
    public var clientName: String?
    /// The purpose of the sign-in, for the user: the URL that needs the token, or the resource's name.
    public var purpose: String?
    /// The kind of authority, if a plugin serves several and the URL doesn't show it.
    public var kind: String?
    /// The application's secret, if it has one.
    public var clientSecret: Secret?
    /// A redirect URI instead of the plugin's own choice; it has a port if the port is fixed.
    public var redirectURI: String?
    /// The requested scopes, without the OpenID Connect ones that the plugin adds.
    public var scopes: [String] = []
    /// The resource indicators (RFC 8707): absolute URIs.
    public var resources: [String] = []
    /// The flows that may be used, best first.
    public var flows: [Flow] = []
    /// Parameters of the sign-in; the port is in `redirectURI`.
    public var signIn = SignInParameters()
    /// An OpenID Connect claims request, as JSON.
    public var claims: String?
    /// Abilities of the host that authorities may rely on.
    public var capabilities: [Capability] = []
    /// The home account ID of the requested account.
    public var account: String?
    /// In `silent`: the milliseconds after which the host continues without an answer.
    public var timeLimit: Int?
    /// The refresh token to redeem or revoke.
    public var refreshToken: Secret?
    /// An ID token of the account, which identifies the session to end.
    public var idTokenHint: Secret?
    /// In `authenticate`: the identity that the token is for.
    ///
    /// In `probe`: the identity whose sign-in is checked, if there is no authority.
    public var identity: PluginIdentity?
    /// In `exchange`: the name of the manifest's exchange.
    public var exchange: String?
    /// In `exchange`: the host that the result is for, with `:port` if it isn't the default port.
    public var audience: String?
    /// In `exchange`: the path on the host, without its leading slash, if the manifest says that the result is for a
    /// single path.
    public var audiencePath: String?
    /// In `exchange`: the parameters that a rule has for it.
    public var exchangeParameters: [String: String] = [:]
    /// In `exchange`: the token to exchange.
    ///
    /// In `authenticate`: the token that a server refused because it lacks the `claims`.
    public var accessToken: Secret?
    /// In `unregister`: how to delete the registration.
    public var registration: PluginRegistration.Management?
    /// In `lookup`: what is looked up.
    public var lookup: PluginLookup?
    /// The options that the configuration has for the plugin, by name.
    public var options: [String: String] = [:]
    /// The memo that the plugin last returned for this authority.
    public var memo: String?
    /// What the user's settings say of the way to the authority.
    public var network = PluginNetwork()
    /// The authority hosts in the configuration, which the plugin trusts like its own.
    public var knownHosts: [String] = []
    /// The hosts that the configuration names as the authority's, besides that of its URL.
    public var issuerHosts: [String] = []
    /// A UUID that identifies this exchange in the authority's logs.
    public var correlationID: String?

    /// Creates a request; everything but the operation is set afterwards.
    public init(_ operation: Operation) {
        self.operation = operation
    }

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
        for (name, value) in exchangeParameters.sorted(by: { $0.key < $1.key }) {
            try writer.put("exchange_parameter[]", "\(name)=\(value)")
        }
        try writer.put("access_token", accessToken)
        try writer.put("registration_uri", registration?.uri)
        try writer.put("registration_token", registration?.token)
        try lookup?.write(to: &writer)
        for (name, value) in options.sorted(by: { $0.key < $1.key }) { try writer.put("option[]", "\(name)=\(value)") }
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
        guard let name = block["operation"] else {
            throw PluginError(.invalidRequest, "the request has no `operation`")
        }
        guard let operation = Operation(rawValue: name) else {
            throw PluginError(.unsupported, "this plugin does not know the operation \(name.displayable(limit: 40))")
        }
        self.init(operation)
        do throws(ProtocolError) {
            try read(WireReader(block))
        } catch {
            throw PluginError(.invalidRequest, "the request has \(error.text)")
        }
    }

    private mutating func read(_ reader: WireReader) throws(ProtocolError) {
        guard operation != .describe else { return }
        for option in try reader.fields("option[]", named: .token(64)) { options[option.name] = option.value.reveal() }
        guard operation != .lookup else { return lookup = try PluginLookup(reader) }
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
    private mutating func readAuthority(_ reader: WireReader) throws(ProtocolError) {
        if [.authenticate, .exchange, .probe].contains(operation) { identity = try PluginIdentity(reader) }
        if operation == .authenticate, identity == nil { throw .missing("identity") }
        clientSecret = try reader.optional("client_secret", .text(4096)).map { Secret($0) }
        try identity?.check(clientSecret: clientSecret)
        redirectURI = try reader.optional("redirect_uri", .token(2048))
        kind = try reader.optional("kind", .token(64))
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

    private mutating func readSignIn(_ reader: WireReader) throws(ProtocolError) {
        for parameter in Self.signInParameters {
            do throws(ParameterError) {
                try signIn.apply([parameter: parameter.texts(in: reader.block)])
            } catch {
                throw .invalid(parameter.wireKey)
            }
        }
    }

    private mutating func readExchange(_ reader: WireReader) throws(ProtocolError) {
        exchange = try reader.required("exchange", .token(64))
        audience = try reader.required("audience", .host)
        audiencePath = try reader.optional("audience_path", .text(2048))
        for parameter in try reader.fields("exchange_parameter[]", named: .token(64)) {
            exchangeParameters[parameter.name] = parameter.value.reveal()
        }
        accessToken = try reader.secret("access_token")
        guard accessToken != nil else { throw .missing("access_token") }
    }
}

/// What the host found in the user's settings about the way to an authority; the variables for proxies and certificates
/// count besides.
public struct PluginNetwork: Sendable, Equatable {
    /// The proxy's URL, which may contain a password; empty for no proxy, nil for the one that the variables name.
    public var proxy: Secret?
    /// How to prove oneself to the proxy: `basic`, `digest`, `ntlm`, `negotiate`; nil for whatever it asks for.
    public var proxyAuthentication: String?
    /// Files of PEM certificates to trust in addition to the system's.
    public var caFiles: [String] = []
    /// A folder of files of PEM certificates to trust in addition.
    public var caFolder: String?
    /// The PEM file of the certificate that proves the user to the server; nil for none.
    public var certificate: String?
    /// The PEM file of its key; nil if that is in the same file.
    public var certificateKey: String?
    /// The oldest version of TLS to accept, `1.2` or `1.3`; nil for 1.2.
    public var oldestTLS: String?

    /// Creates settings without effect.
    public init() {}

    /// How the wire calls no proxy: an empty value is no value.
    private static let noProxy = "none"

    init(_ reader: WireReader) throws(ProtocolError) {
        proxy = try reader.secret("proxy").map { $0.reveal() == Self.noProxy ? Secret("") : $0 }
        proxyAuthentication = try reader.optional("proxy_authentication", .token(32))
        caFiles = try reader.list("ca_file[]", .text(4096), limit: 8)
        caFolder = try reader.optional("ca_folder", .text(4096))
        certificate = try reader.optional("tls_certificate", .text(4096))
        certificateKey = try reader.optional("tls_key", .text(4096))
        oldestTLS = try reader.optional("oldest_tls", .token(8))
    }

    func write(to writer: inout WireWriter) throws(ProtocolError) {
        try writer.put("proxy", proxy.map { $0.isEmpty ? Secret(Self.noProxy) : $0 })
        try writer.put("proxy_authentication", proxyAuthentication)
        try writer.put("ca_file[]", list: caFiles)
        try writer.put("ca_folder", caFolder)
        try writer.put("tls_certificate", certificate)
        try writer.put("tls_key", certificateKey)
        try writer.put("oldest_tls", oldestTLS)
    }
}
