import AWS
import Addresses
import Files
import Glibc
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// A token of another issuer, which Google's Security Token Service exchanges for its own (RFC 8693): workload and workforce identity
/// federation.
struct ExternalAccount: GoogleCredentials {
    private let services: GoogleServices
    private let audience: String
    private let type: String
    private let url: String
    private let subject: SubjectToken
    private let impersonated: (url: String, lifetime: Int)?
    private let project: String?
    private let client: (id: String, secret: Secret)?

    let words = "another issuer's token"

    private static let lifetimes = 600...43_200

    init(_ file: CredentialsReader) throws(PluginError) {
        services = file.services
        audience = try file.text("audience")
        type = try file.text("subject_token_type")
        url = try file.url("token_url", at: "sts") ?? services.hosts.url("sts") + "/v1/token"
        let lifetime = file.members["service_account_impersonation"]?["token_lifetime_seconds"]?.wholeNumber
        impersonated = try file.impersonationURL().map { url in
            (url, min(max(lifetime ?? 3600, Self.lifetimes.lowerBound), Self.lifetimes.upperBound))
        }
        project = file.members["workforce_pool_user_project"]?.string
        client = file.members["client_id"]?.string.map { ($0, Secret(file.members["client_secret"]?.string ?? "")) }
        subject = try SubjectToken(file, audience: audience, type: type)
    }

    func token(_ demand: GoogleDemand) async throws(PluginError) -> GoogleToken {
        guard let impersonated else {
            guard case .access(let scopes) = demand else { throw .noIDToken(words) }
            return try await exchanged(scopes)
        }
        let source = try await exchanged([GoogleServices.impersonation]).secret
        return try await services.impersonate(
            impersonated.url, for: demand, delegates: [], lifetime: impersonated.lifetime, by: source)
    }

    private func exchanged(_ scopes: [String]) async throws(PluginError) -> GoogleToken {
        let given = try await subject.token(over: services.transport)
        var form: [FormEncoding.Field] = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"), ("audience", audience),
            ("scope", scopes.joined(separator: " ")),
            ("requested_token_type", "urn:ietf:params:oauth:token-type:access_token"),
            ("subject_token", given.reveal()), ("subject_token_type", type),
        ]
        if client == nil, let project {
            form.append(("options", JSONValue.object(["userProject": .string(project)]).encodedText.percentEncoded))
        }
        let (said, answer) = try await services.post(url, form, basic: client, for: "the token to exchange")
        return try services.token(said, answer, from: url)
    }
}

/// Where the token of the other issuer comes from: `credential_source`.
struct SubjectToken: Sendable {
    private enum Source: Sendable {
        case file(String)
        case url(String, headers: [(String, String)])
        case program(SubjectProgram)
        case keysOfAWS(CallerIdentity)
    }

    private static let longest = 1 << 16

    private let source: Source
    /// The member of the JSON document that has it; nil if it is all of a text.
    private let member: String?

    init(_ file: CredentialsReader, audience: String, type: String) throws(PluginError) {
        guard let members = file.members["credential_source"], members.members != nil else {
            throw PluginError(.invalidRequest, "\(file.place) lacks `credential_source`")
        }
        let format = members["format"]
        let isJSON = format?["type"]?.string == "json"
        member = isJSON ? format?["subject_token_field_name"]?.string : nil
        guard !isJSON || member != nil else {
            throw PluginError(.invalidRequest, "\(file.place) lacks `subject_token_field_name`")
        }
        if let path = members["file"]?.string {
            source = .file(path)
        } else if let program = members["executable"] {
            source = .program(try SubjectProgram(program, file, audience: audience, type: type))
        } else if let environment = members["environment_id"]?.string {
            guard environment.isSame(as: "aws1"), let url = members["regional_cred_verification_url"]?.string else {
                throw PluginError(.unsupported, "\(file.place) exchanges keys of another version than AWS's first")
            }
            source = .keysOfAWS(CallerIdentity(file.surroundings.identity, url: url, audience: audience))
        } else if members["certificate"] != nil {
            throw PluginError(
                .unsupported, "\(file.place) exchanges a certificate, which lanyard can't do",
                hint: "use a token of the issuer: a file, a URL or an executable")
        } else if let url = members["url"]?.string {
            source = .url(try Self.checked(url, in: file.place), headers: Self.headers(members["headers"]))
        } else {
            throw PluginError(.invalidRequest, "\(file.place) has a `credential_source` of no kind that lanyard knows")
        }
    }

    /// Returns the URL if a token may be asked for there: https, or the platform of this machine.
    private static func checked(_ text: String, in place: String) throws(PluginError) -> String {
        let isLocal =
            StrictURL(web: text).map { url in
                url.isLoopbackHTTP || url.scheme == "http" && url.host.name == MetadataServer.usualAddress
            } ?? false
        guard text.utf8.count <= 2048, StrictURL(https: text) != nil || isLocal else {
            throw PluginError(.invalidRequest, "the URL of the token in \(place) is neither https nor this machine's")
        }
        return text
    }

    private static func headers(_ said: JSONValue?) -> [(String, String)] {
        (said?.members ?? [:]).compactMap { name, value in
            value.string.map { (name.lowercased(), $0) }
        }.sorted { $0.0 < $1.0 }
    }

    /// Reads or fetches the token, whose text is in no error.
    func token(over transport: Transport) async throws(PluginError) -> Secret {
        let text: String
        switch source {
        case .file(let path): text = try read(path)
        case .program(let program): text = try await program.token()
        case .url(let url, let headers): text = try await fetch(url, headers, transport)
        case .keysOfAWS(let identity): text = try await identity.token()
        }
        var token = text
        if let member {
            guard let value = JSONValue(bytes: text.utf8)?[member]?.string else {
                throw PluginError(
                    .invalidRequest, "\(words) has no member \(member.displayable(limit: 60)) with a token")
            }
            token = value
        }
        guard let plain = String(token.trimmed(of: " \t\r\n")).plain(limit: Self.longest), !plain.isEmpty else {
            throw PluginError(.invalidRequest, "\(words) gave no token", hint: "it should be a token on one line")
        }
        return Secret(plain)
    }

    private var words: String {
        switch source {
        case .file(let path): "the file \(path.displayable(limit: 300))"
        case .url(let url, _): StrictURL(web: url)?.hostText ?? "the URL"
        case .program(let program): "the program \(program.path.displayable(limit: 300))"
        case .keysOfAWS: "AWS"
        }
    }

    private func read(_ path: String) throws(PluginError) -> String {
        do throws(FileError) {
            return String(decoding: try OpenFile(path).contents(atMost: Self.longest), as: UTF8.self)
        } catch {
            throw PluginError(
                .unavailable, "\(words) with the token can't be read: \(error.reason)",
                hint: "check that the job or pod mounts the token there")
        }
    }

    private func fetch(
        _ url: String, _ headers: [(String, String)], _ transport: Transport
    ) async throws(PluginError) -> String {
        let answer: HTTPAnswer
        if url.hasPrefix("http:") {
            do throws(HTTPError) {
                answer = try await MetadataServer.client.send(
                    HTTPRequest("GET", url, headers: headers.map { ($0.0, Secret($0.1)) }), within: .seconds(10))
            } catch {
                throw PluginError(.unavailable, "\(words) gives no token: nothing answers there")
            }
        } else {
            do throws(OAuthError) { answer = try await transport.get(url, headers: headers) } catch {
                throw error.plain
            }
        }
        guard answer.status == 200, let text = answer.text else {
            throw PluginError(.invalidRequest, "\(words) gave no token (HTTP \(answer.status))")
        }
        return text
    }
}
