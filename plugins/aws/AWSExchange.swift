import Addresses
import FoundationEssentials
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// What a token is exchanged for at AWS, by its name in the manifest.
enum AWSExchange: String, CaseIterable, Sendable {
    /// The keys of a role in an account at IAM Identity Center.
    case roleAtIdentityCenter = "aws-sso"
    /// The keys of a role by its ARN.
    case role = "aws-sts"
    /// A password for all private registries of a region.
    case registry = "aws-ecr"
    /// A password for ECR Public.
    case publicRegistry = "aws-ecr-public"
    /// A password for all repositories of a domain in CodeArtifact.
    case repository = "aws-codeartifact"

    /// Exchanges the request's token.
    ///
    /// - Throws: `interaction-required` if the token is refused; `invalid-request` for what the rule has wrong.
    func credential(
        for request: PluginRequest, over transport: Transport
    ) async throws(PluginError) -> PluginCredential {
        guard let host = request.audience, let token = request.accessToken else {
            throw PluginError(.invalidRequest, "the request contains no token to exchange")
        }
        let keyring = RoleKeys(request: request, token: token, transport: transport)
        switch self {
        case .roleAtIdentityCenter:
            // `portal.sso.eu-central-1.amazonaws.com`; another host stands in for it.
            let labels = host.pieces(between: ".").map(String.init)
            let region =
                labels.count > 3 && labels[1] == "sso"
                ? try Region(labels[2], request) : try Region(ofOptionsOf: request)
            return try await keyring.keys(of: [request.audiencePath ?? ""], in: region).credential
        case .role: return try await keyring.keysForPath(at: host).credential
        case .registry, .publicRegistry, .repository:
            let service = try AWSService(self, at: host, request)
            let keys = try await keyring.keys(of: keyring.named, in: service.home)
            return try await service.credential(by: keys, over: transport)
        }
    }
}

/// The keys of a rule's roles: the first is got with the token, and each other with the keys of the one before.
struct RoleKeys: Sendable {
    let request: PluginRequest
    let token: Secret
    let transport: Transport

    private var isOfIdentityCenter: Bool { request.kind == "identity-center" }

    /// The rule's roles, separated by blanks.
    var named: [String] { (request.exchangeParameters["role"] ?? "").pieces(between: " ").map(String.init) }

    /// Returns the keys of the role that the path of a token service's URL names.
    func keysForPath(at host: String) async throws(PluginError) -> AWSKeys {
        guard let role = request.audiencePath, SecurityTokenService.isRole(role) else {
            throw PluginError(
                .invalidRequest, "the URL's path is not a role",
                hint: "write it as https://\(host)/arn:aws:iam::ACCOUNT:role/NAME")
        }
        let url = request.options["endpoint"]?.withoutTrailingSlashes ?? "https://\(host)"
        let service = SecurityTokenService(url: url, transport: transport)
        if !isOfIdentityCenter, named.isEmpty, try AWSKeys(ofMachine: token) == nil {
            return try await service.keys(role, token: token, options(isLast: true))
        }
        // `sts.eu-central-1.amazonaws.com`; the global one is in the first region.
        let labels = host.pieces(between: ".").map(String.init)
        let region =
            if labels.count > 3, labels[0].hasPrefix("sts") { try Region(labels[1], request) } else if labels.count == 3
            { try Region("us-east-1", request) } else { try Region(ofOptionsOf: request) }
        // Without a role in the rule, the user's only one assumes the URL's.
        let first = isOfIdentityCenter && named.isEmpty ? [""] : named
        return try await keys(of: first + [role], in: region, by: service)
    }

    /// Returns the keys of the last of these roles; without any, those of the only role that the token's user has, or the
    /// machine's own.
    func keys(
        of roles: [String], in region: Region, by tokenService: SecurityTokenService? = nil
    ) async throws(PluginError) -> AWSKeys {
        let portal =
            isOfIdentityCenter
            ? Portal(region: try portalRegion(region), token: token, transport: transport, request: request) : nil
        let service = tokenService ?? SecurityTokenService(url: region.url("sts"), transport: transport)
        var keys: AWSKeys
        var next = roles[...]
        if let portal {
            keys = try await portal.keys(of: next.popFirst())
        } else if let own = try AWSKeys(ofMachine: token) {
            keys = own
        } else {
            guard let first = next.popFirst(), SecurityTokenService.isRole(first) else {
                throw Self.noRole(roles.first)
            }
            keys = try await service.keys(first, token: token, options(isLast: next.isEmpty))
        }
        while let role = next.popFirst() {
            guard SecurityTokenService.isRole(role) else { throw Self.noRole(role) }
            keys = try await service.keys(role, by: keys, in: region, options(isLast: next.isEmpty))
        }
        return keys
    }

    /// Identity Center may be in another region than what its keys are for.
    private func portalRegion(_ region: Region) throws(PluginError) -> Region {
        if request.exchange == AWSExchange.roleAtIdentityCenter.rawValue { return region }
        return try IdentityCenter(request, over: transport).region
    }

    /// The rule's options count for the last role.
    private func options(isLast: Bool) throws(PluginError) -> SecurityTokenService.Options {
        let name = try request.exchangeParameters["session-name"].map { name throws(PluginError) in
            try name.asSessionName("the rule's session-name")
        }
        let duration = request.exchange == AWSExchange.role.rawValue ? try request.duration(orZero: false) : nil
        var options = SecurityTokenService.Options(sessionName: name ?? token.sessionName)
        guard isLast else { return options }
        options.externalID = request.exchangeParameters["external-id"]
        options.duration = duration
        return options
    }

    private static func noRole(_ text: String?) -> PluginError {
        PluginError(
            .invalidRequest,
            text.map { "\($0.displayable(limit: 200)) is not the ARN of a role" } ?? "the rule names no role",
            hint: "write into the rule: exchange-parameters = { role = \"arn:aws:iam::ACCOUNT:role/NAME\" }")
    }
}

/// A service that gives passwords for signed requests: ECR, ECR Public or CodeArtifact.
struct AWSService: Sendable {
    /// The region of the service.
    let home: Region
    private let name: String
    /// Where passwords are asked for.
    let url: String
    /// What the request says that it wants; nil for CodeArtifact, whose URL says it.
    private let target: String?

    /// Creates the service of a host.
    ///
    /// - Throws: `invalid-request` if the host's name says neither region nor owner.
    init(_ exchange: AWSExchange, at host: String, _ request: PluginRequest) throws(PluginError) {
        let labels = host.pieces(between: ".").map(String.init)
        switch exchange {
        case .registry:
            // ACCOUNT.dkr.ecr[-fips].REGION.amazonaws.com, or ACCOUNT.dkr-ecr[-fips].REGION.on.aws. Another host, which a
            // rule names, is in the region of the configuration.
            let isDual = labels.count > 3 && labels[1].hasPrefix("dkr-ecr")
            let isOwn = isDual || labels.count > 4 && labels[1] == "dkr" && labels[2].hasPrefix("ecr")
            home = try isOwn ? Region(labels[isDual ? 2 : 3], request) : Region(ofOptionsOf: request)
            let isFIPS = isOwn && labels[isDual ? 1 : 2].hasSuffix("-fips")
            let service = isFIPS ? "ecr-fips" : "ecr"
            url = (isDual ? home.dualStackURL(service) : home.url("api.\(service)")) + "/"
            (name, target) = ("ecr", "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken")
        case .publicRegistry:
            home = try Region("us-east-1", request)
            let isDual = labels.first == "ecr-public"
            url = (isDual ? home.dualStackURL("ecr-public") : home.url("api.ecr-public")) + "/"
            (name, target) = ("ecr-public", "SpencerFrontendService.GetAuthorizationToken")
        case .repository, .role, .roleAtIdentityCenter:
            // DOMAIN-OWNER.d.codeartifact.REGION.amazonaws.com, or DOMAIN-OWNER.codeartifact.REGION.on.aws.
            guard let place = labels.firstIndex(of: "codeartifact"), labels.count > place + 1,
                let (domain, owner) = labels.first?.cut(atLast: "-"), String(owner).isAccountNumber, !domain.isEmpty
            else {
                throw PluginError(
                    .invalidRequest, "\(host) is no host of CodeArtifact's",
                    hint: "write it as DOMAIN-OWNER.d.codeartifact.REGION.amazonaws.com")
            }
            home = try Region(labels[place + 1], request)
            var fields: [FormEncoding.Field] = [("domain", String(domain)), ("domain-owner", String(owner))]
            if let duration = try request.duration(orZero: true) { fields.append(("duration", duration)) }
            let service = labels[place - 1] == "d" ? home.url("codeartifact") : home.dualStackURL("codeartifact")
            url = FormEncoding.append(fields, to: service + "/v1/authorization-token")
            (name, target) = ("codeartifact", nil)
        }
    }

    /// Requests a password, which isn't said to live longer than the keys that it was got with.
    func credential(
        by keys: AWSKeys, over transport: Transport
    ) async throws(PluginError) -> PluginCredential {
        let headers = target.map { [("x-amz-target", $0)] } ?? []
        let answer = try await transport.signed(
            url, target == nil ? "" : "{}", "application/x-amz-json-1.1", by: keys, home, name, headers)
        guard answer.status == 200 else { throw refusal(answer) }
        let said = answer.json
        let data = said?["authorizationData"]
        let entry = data?.elements.first ?? data ?? said
        guard let text = entry?["authorizationToken"]?.string,
            let (username, secret) = target == nil ? ("aws", text) : Self.pair(text), WireForm.secret.accepts(secret)
        else { throw PluginError(.internal, "\(host) gave no password that can be used") }
        let end = entry?["expiresAt"] ?? entry?["expiration"]
        let told = end?.text.flatMap(Double.init).map(answer.lifetime(until:)) ?? keys.lifetime
        return PluginCredential(
            username: Secret(username), secret: Secret(secret), lifetime: min(told, keys.lifetime))
    }

    private var host: String { StrictURL(https: url)?.hostText ?? "AWS" }

    /// The user name and password of HTTP's Basic, encoded.
    private static func pair(_ text: String) -> (String, String)? {
        guard let bytes = Data(base64Encoded: text), let pair = String(validating: bytes, as: UTF8.self),
            let (name, secret) = pair.cut(at: ":")
        else { return nil }
        return (String(name), String(secret))
    }

    private func refusal(_ answer: HTTPAnswer) -> PluginError {
        let said = answer.json
        let type = said?["__type"]?.string ?? answer.first("x-amzn-errortype") ?? "HTTP \(answer.status)"
        // `com.amazonaws.ecr#AccessDeniedException`, or `AccessDeniedException:https://…`.
        let exception = type.cut(atLast: "#")?.1 ?? type[...]
        let code = String(exception.cut(at: ":")?.0 ?? exception)
        let words = (said?["message"] ?? said?["Message"])?.string ?? code
        let shown = words.displayable(limit: 300)
        var error =
            switch code {
            case "ExpiredTokenException", "UnrecognizedClientException":
                PluginError(.interactionRequired, "\(host) refuses the keys: \(shown)")
            case "InvalidSignatureException": PluginError(unsigned: words, at: host)
            case _ where answer.isThrottling: PluginError(throttling: shown, at: host)
            case "ResourceNotFoundException":
                PluginError(
                    .invalidRequest, "\(host) refuses: \(shown)",
                    hint: "check the domain, its owner and the region in the URL's host")
            case "AccessDeniedException":
                PluginError(
                    .invalidRequest, "\(host) refuses: \(shown)",
                    hint: "the role needs \(name):GetAuthorizationToken"
                        + (name == "ecr" ? "" : " and sts:GetServiceBearerToken"))
            case _ where said == nil:
                PluginError(
                    .invalidRequest, "something on the way to \(host) refuses: \(shown)",
                    hint: "the answer isn't AWS's: check the proxy, and what else filters the network")
            default: PluginError(.invalidRequest, "\(host) refuses: \(shown)")
            }
        error.error = code.plain(limit: 100)
        return error
    }
}

extension Transport {
    /// Posts a signed request that asks for keys or a password, which does no harm if repeated.
    func signed(
        _ url: String, _ body: String, _ type: String, by keys: AWSKeys, _ region: Region, _ service: String,
        _ headers: [(String, String)] = []
    ) async throws(PluginError) -> HTTPAnswer {
        let signature = SignatureV4(keys: keys, region: region.name, service: service)
        func answer() async throws(PluginError) -> HTTPAnswer {
            let signed = signature.headers("POST", url, signing: [("content-type", type)] + headers, body: body)
            do throws(OAuthError) {
                return try await post(url, body, as: type, headers: headers + signed, .harmless)
            } catch {
                throw error.plain
            }
        }
        let first = try await answer()
        guard first.isThrottling else { return first }
        do { try await Task.sleep(for: .seconds(1)) } catch { throw .interrupted }
        return try await answer()
    }
}

extension HTTPAnswer {
    /// Whether it says that there were too many requests, for which AWS also has the status of mistakes.
    var isThrottling: Bool {
        let words = ["Throttl", "TooManyRequests", "RequestLimitExceeded"]
        return status == 400 && words.contains { (first("x-amzn-errortype") ?? text ?? "").hasBytes($0) }
    }
}

extension PluginError {
    /// Creates the error for too many requests.
    init(throttling words: String, at host: String) {
        self.init(
            .unavailable, "\(host) says that there were too many requests: \(words)", hint: "try again in a minute")
    }
}

extension PluginRequest {
    /// Returns the rule's duration in seconds; nil if it names none.
    ///
    /// - Throws: `invalid-request` for one that AWS takes nowhere. CodeArtifact takes 0, for that of the keys.
    fileprivate func duration(orZero: Bool) throws(PluginError) -> String? {
        guard let text = exchangeParameters["duration"] else { return nil }
        guard text.utf8.allSatisfy(\.isDigit), let seconds = Int(text),
            (900...43_200).contains(seconds) || orZero && seconds == 0
        else {
            throw PluginError(
                .invalidRequest, "the rule's duration is none that AWS takes",
                hint: "write seconds, from \"900\" to \"43200\""
                    + (orZero ? ", or \"0\" for those of the role's keys" : ""))
        }
        return String(seconds)
    }
}

extension String {
    /// Whether it is a name of a role.
    var isRoleName: Bool { (1...64).contains(utf8.count) && utf8.allSatisfy(\.isOfSessionName) }

    /// Returns the text as the name of a role's session.
    ///
    /// - Throws: `invalid-request` if AWS wouldn't take it; `place` is where it is from.
    func asSessionName(_ place: String) throws(PluginError) -> String {
        guard utf8.count > 1, isRoleName else {
            throw PluginError(
                .invalidRequest, "\(place) has characters that AWS doesn't allow, or is too long or too short",
                hint: "use 2 to 64 letters, digits and _+=,.@-")
        }
        return self
    }
}
