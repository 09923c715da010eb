import FoundationEssentials
package import HTTP
import JSON
package import OAuth
package import PluginWire
import Secrets

/// Opens connections to the authorities of the host's requests.
package struct AuthorityConnector: Sendable {
    private let environment: [String: String]
    private let limits: Transport.Limits
    private let headers: @Sendable (PluginRequest) -> [(name: String, value: String)]

    /// Creates a connector.
    ///
    /// - Parameters:
    ///   - environment: The variables that configure proxies and certificates.
    ///   - limits: The limits on the time and size of an authority's answer.
    ///   - headers: Additional headers for each request to the authority.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, limits: Transport.Limits = .init(),
        headers: @escaping @Sendable (PluginRequest) -> [(name: String, value: String)] = { _ in [] }
    ) {
        self.environment = environment
        self.limits = limits
        self.headers = headers
    }

    /// Opens a connection to authorities, runs the body and closes the connection.
    package func connected<Value: Sendable>(
        _ request: PluginRequest, _ body: (Transport) async throws(PluginError) -> Value
    ) async throws(PluginError) -> Value {
        let transport: Transport
        do throws(OAuthError) {
            transport = try Transport(settings(for: request))
        } catch {
            throw error.plain
        }
        return try await body(transport)
    }

    private func settings(for request: PluginRequest) -> Transport.Settings {
        var settings = Transport.Settings(
            userAgent: "lanyard/\(Version.current)", environment: environment, limits: limits)
        settings.headers = headers(request)
        settings.network = NetworkSettings(request.network, environment)
        settings.whole =
            switch request.operation {
            case .renew, .exchange, .authenticate: limits.renewal
            case .probe, .revoke, .unregister: limits.probe
            default: nil
            }
        return settings
    }
}

extension NetworkSettings {
    /// What a request's settings and the plugin's environment say.
    package init(_ network: PluginNetwork, _ environment: [String: String]) {
        self.init(environment: environment)
        (caFiles, caFolder) = (network.caFiles, network.caFolder)
        proxy = network.proxy?.reveal()
        proxyAuthentication = network.proxyAuthentication.flatMap(ProxyAuthentication.init)
        (certificate, certificateKey) = (network.certificate, network.certificateKey)
        needsTLS13 = network.oldestTLS == "1.3"
    }
}

extension Transport {
    /// Posts a form that exchanges a token, which does no harm if repeated.
    package func exchange(_ url: String, _ form: [FormEncoding.Field]) async throws(PluginError) -> HTTPAnswer {
        do throws(OAuthError) { return try await post(url, form, .harmless) } catch { throw error.plain }
    }
}

extension OAuthError {
    /// The error in the plugin protocol's terms; the meaning of a refusal depends on the authority.
    package var plain: PluginError {
        var error = PluginError(code, message, hint: hint)
        error.retryAfter = retryAfter
        if kind == .unusableSetting { error.reasons = [.setting] }
        return error
    }

    private var code: PluginError.Code {
        switch kind {
        case .cancelled: .cancelled
        case .throttled: .throttled
        case .unavailable, .silent: .unavailable
        case .refused, .invalidRequest, .unusableSetting, .notFound, .unusableRedirect, .noAccessToken: .invalidRequest
        case .unsupported: .unsupported
        case .broken, .untrusted: .internal
        }
    }
}

/// Authorities' metadata in a plugin's memo, so that a renewal need not fetch it again.
///
/// It is trusted no more than data from the network. It is validated in the same way, and only endpoints at the
/// authority's own hosts are used: a forged memo sends no token elsewhere.
package struct MetadataMemo: Sendable, Equatable {
    /// Seconds for which an authority isn't asked again.
    private static let lifetime = 86_400
    /// The highest number of authorities in one memo; an audience stands for the tenants of several accounts.
    private static let most = 8
    /// The longest memo, in bytes (docs/plugin-protocol.md, Framing).
    private static let longest = 16_384

    /// The metadata of each authority.
    private var entries: [String: JSONValue]
    private var hasNews = false

    /// Parses the memo from the host; anything else counts as empty.
    package init(_ text: String?) {
        let all = JSONValue(bytes: (text ?? "").utf8)?.members ?? [:]
        let now = Self.now
        entries = all.filter { (now...now + Self.lifetime).contains($0.value["until"]?.wholeNumber ?? 0) }
    }

    /// Returns the metadata of the authority at a URL, and whether it is OpenID Connect's; nil if the memo has none.
    package func said(by authority: String) -> (metadata: ProviderMetadata, isOpenID: Bool)? {
        entries[authority].flatMap { entry in
            entry["said"]?.members.map { (ProviderMetadata($0), entry["isOpenID"] == true) }
        }
    }

    /// Records the metadata of an authority.
    package mutating func keep(_ said: ProviderMetadata, isOpenID: Bool = true, by authority: String) {
        if entries.count >= Self.most { entries = [:] }
        entries[authority] = [
            "said": .object(said.members), "isOpenID": .bool(isOpenID), "until": JSONValue(Self.now + Self.lifetime),
        ]
        hasNews = true
    }

    /// Returns the number that is kept under a name, which is no authority's URL; nil if there is none.
    package func number(_ name: String) -> Int? { entries[name]?["number"]?.wholeNumber }

    /// Records a number.
    package mutating func keep(_ number: Int, _ name: String) {
        if entries.count >= Self.most { entries = [:] }
        entries[name] = ["number": JSONValue(number), "until": JSONValue(Self.now + Self.lifetime)]
        hasNews = true
    }

    /// The memo for the host to store; nil if nothing is new, or if it is too long.
    package var memo: PluginMemo? {
        let text = JSONValue.object(entries).encodedText
        return hasNews && text.utf8.count <= Self.longest ? PluginMemo(text, expiresIn: Self.lifetime) : nil
    }

    private static var now: Int { Int(Date.now.timeIntervalSince1970) }
}
