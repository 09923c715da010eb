import Addresses
import Files
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The metadata server of machines in Google's cloud: Compute Engine, GKE, Cloud Run and others.
struct MetadataServer: GoogleCredentials {
    /// What asks servers on this machine, or one hop away: no proxy, no redirect.
    static let client: HTTPClient = {
        var limits = HTTPClient.Limits()
        limits.connect = .seconds(3)
        return HTTPClient(userAgent: "lanyard/\(Version.current)", .anyone, limits: limits)
    }()

    private static let usualHost = "metadata.google.internal"
    static let usualAddress = "169.254.169.254"
    private static let flavor = "metadata-flavor"
    private static let google = "Google"
    private static let probeLimit = Duration.seconds(1)
    private static let attemptLimit = Duration.seconds(10)
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8)]

    private let host: String
    private let account: String

    let words = "the metadata server of this machine"

    /// Finds the metadata server; `account` is the service account that is wanted, or nil for the machine's own.
    ///
    /// What the firmware says comes first: on other machines, nobody waits for an address where nothing answers.
    static func found(
        _ surroundings: GoogleSurroundings, account: String?
    ) async throws(PluginError) -> MetadataServer {
        let named = surroundings.variable("GCE_METADATA_HOST") ?? surroundings.variable("GCE_METADATA_ROOT")
        if let named, RequestHost(named) == nil {
            throw PluginError(.invalidRequest, "GCE_METADATA_HOST is no host", hint: "write it as HOST or HOST:PORT")
        }
        let server = MetadataServer(host: named ?? usualHost, account: account ?? "default")
        let isSwitchedOff = surroundings.variable("NO_GCE_CHECK")?.lowercased() == "true"
        let isCertain =
            named != nil || surroundings.variable("K_SERVICE") != nil
            || surroundings.variable("CLOUD_RUN_JOB") != nil
        guard !isSwitchedOff, isCertain || isPossible(surroundings) else { throw .noDefaultCredentials }
        let address = named ?? surroundings.variable("GCE_METADATA_IP") ?? usualAddress
        do throws(HTTPError) {
            let answer = try await client.send(
                HTTPRequest("GET", "http://\(address)/", headers: [(flavor, Secret(google))]),
                within: isCertain ? .seconds(3) : probeLimit)
            guard answer.first(flavor) == google else { throw HTTPError(.garbled) }
        } catch {
            guard let named else { throw .noDefaultCredentials }
            throw PluginError(
                .unavailable, "no metadata server of Google's answers at \(named.displayable(limit: 200))",
                hint: "check GCE_METADATA_HOST, or unset it")
        }
        return server
    }

    /// Whether this may be a machine of Google's: its firmware says so, or can't be read, as in a container.
    private static func isPossible(_ surroundings: GoogleSurroundings) -> Bool {
        let path = "\(surroundings.root)/sys/class/dmi/id/product_name"
        guard let bytes = try? OpenFile(path).contents(atMost: 256) else { return FileStatus(of: path) == nil }
        return String(decoding: bytes, as: UTF8.self).hasPrefix(google)
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        switch demand {
        case .access(let scopes):
            let fields = scopes.isEmpty ? [] : [("scopes", scopes.joined(separator: ","))]
            let answer = try await get("token", fields)
            guard let said = answer.json, let text = said["access_token"]?.string, WireForm.secret.accepts(text),
                let lifetime = said["expires_in"]?.wholeNumber
            else { throw PluginError(.internal, "\(words) gave no token that can be used") }
            return GoogleToken(secret: Secret(text), expiresIn: min(max(0, lifetime), HTTPAnswer.longestLifetime))
        case .id(let audience):
            let answer = try await get("identity", [("audience", audience), ("format", "full")])
            let text = String((answer.text ?? "").trimmed(of: " \t\r\n"))
            guard WireForm.secret.accepts(text), let end = Secret(text).unverifiedClaims?["exp"]?.boundedNumber else {
                throw PluginError(.internal, "\(words) gave no ID token that can be used")
            }
            return GoogleToken(secret: Secret(text), expiresIn: answer.lifetime(until: Double(end)))
        }
    }

    private func get(_ path: String, _ fields: [FormEncoding.Field]) async throws(PluginError) -> HTTPAnswer {
        let place = "http://\(host)/computeMetadata/v1/instance/service-accounts/\(account)/\(path)"
        let url = fields.isEmpty ? place : FormEncoding.append(fields, to: place)
        for pause in Self.pauses {
            guard let answer = await once(url) else { throw PluginError(.unavailable, "\(words) does not answer") }
            guard [408, 429, 500, 503, 504].contains(answer.status) else { return try checked(answer) }
            do { try await Task.sleep(for: pause) } catch { throw .interrupted }
        }
        guard let answer = await once(url) else { throw PluginError(.unavailable, "\(words) does not answer") }
        return try checked(answer)
    }

    private func once(_ url: String) async -> HTTPAnswer? {
        try? await Self.client.send(
            HTTPRequest("GET", url, headers: [(Self.flavor, Secret(Self.google))]), within: Self.attemptLimit)
    }

    private func checked(_ answer: HTTPAnswer) throws(PluginError) -> HTTPAnswer {
        guard answer.first(Self.flavor) == Self.google else {
            throw PluginError(
                .invalidRequest, "something else answers in place of \(words)",
                hint: "check GCE_METADATA_HOST, and what listens there")
        }
        switch answer.status {
        case 200: return answer
        case 404:
            throw PluginError(
                .invalidRequest, "this machine has no service account \(account.displayable(limit: 120))",
                hint: "give the machine or the pod one, or use another identity here")
        case 408, 429, 500...599:
            throw PluginError(.unavailable, "\(words) is not working at the moment (HTTP \(answer.status))")
        default: throw PluginError(.invalidRequest, "\(words) refuses (HTTP \(answer.status))")
        }
    }
}

extension PluginError {
    /// The error if there are none, with every way to some.
    static var noDefaultCredentials: PluginError {
        PluginError(
            .invalidRequest, "there are no application default credentials of Google's here",
            hint: "sign in with gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a file")
    }
}
