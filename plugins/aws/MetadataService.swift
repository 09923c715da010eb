import Addresses
import Files
import HTTP
import JSON
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The services that give a container or an instance the keys of its role, at addresses that only this machine reaches.
struct MetadataService: Sendable {
    let variables: MachineKeys.Variables

    private static let containerHosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]
    /// Nothing else answers faster, and a machine that is no instance has nothing at that address.
    private static let patience = Duration.seconds(1)

    /// Returns the keys of a task or a pod; nil if no variable says where they are.
    func keysOfContainer() async throws(PluginError) -> AWSKeys? {
        let url: String
        if let path = variables["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] {
            url = "http://\(Self.containerHosts[0])\(path)"
            guard path.hasPrefix("/"), StrictURL(web: url)?.host.name == Self.containerHosts[0] else {
                throw Self.wrong("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "is no path")
            }
        } else if let text = variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
            guard let place = StrictURL(web: text), !place.hasFragment,
                place.scheme == "https" || Self.isLocal(place.host)
            else {
                throw Self.wrong(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI", "names neither https nor a service of this machine's platform"
                )
            }
            url = text
        } else {
            return nil
        }
        var headers = [("accept", Secret("application/json"))]
        if let token = try authorization() { headers.append(("authorization", token)) }
        let answer = try await send("GET", url, headers, "the container's service", within: .seconds(2))
        guard answer.status == 200 else { throw Self.refusal(answer, "the container's service") }
        return try keys(answer, "the container's service")
    }

    private static func isLocal(_ host: RequestHost) -> Bool {
        containerHosts.contains(host.name) || host.isThisMachine
    }

    /// Returns the header that proves who asks: from the file, which is written anew, or else the variable.
    private func authorization() throws(PluginError) -> Secret? {
        var token = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
        if let path = variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] {
            do throws(FileError) {
                token = String(decoding: try OpenFile(path).contents(atMost: 16_384), as: UTF8.self)
            } catch {
                throw PluginError(
                    .unavailable, "the token file \(path.displayable(limit: 300)) can't be read: \(error.reason)",
                    hint: "check AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
            }
        }
        guard let text = token.map({ String($0.trimmed(of: " \t\r\n")) }) else { return nil }
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Self.wrong("AWS_CONTAINER_AUTHORIZATION_TOKEN", "has characters that no HTTP header may have")
        }
        return Secret(text)
    }

    /// Whether this may be an instance: its firmware names Amazon, or can't be read, as in some containers.
    ///
    /// Elsewhere, nobody waits for an address where nothing answers.
    private static var isPossible: Bool {
        let texts = ["sys_vendor", "bios_vendor", "bios_version"].compactMap {
            try? OpenFile("/sys/class/dmi/id/\($0)").contents(atMost: 256)
        }
        return texts.isEmpty || texts.contains { String(decoding: $0, as: UTF8.self).lowercased().hasBytes("amazon") }
    }

    /// An instance's metadata, which only a session's token opens (IMDSv2).
    private struct Instance {
        static let name = "the instance's metadata service"
        /// The URL of what has no version.
        let base: String
        let headers: [(String, Secret)]
    }

    /// Begins a session with the metadata service; nil if this is no instance of AWS's.
    private func instance() async throws(PluginError) -> Instance? {
        guard variables["AWS_EC2_METADATA_DISABLED"]?.lowercased() != "true" else { return nil }
        let isIPv6 = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"]?.lowercased() == "ipv6"
        let usual = isIPv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
        let own = variables["AWS_EC2_METADATA_SERVICE_ENDPOINT"]?.withoutTrailingSlashes
        guard own.map({ StrictURL(web: $0) != nil }) ?? true else {
            throw Self.wrong("AWS_EC2_METADATA_SERVICE_ENDPOINT", "is no URL")
        }
        guard own != nil || Self.isPossible else { return nil }
        let (base, name) = ((own ?? usual) + "/latest", Instance.name)
        let session: HTTPAnswer
        do throws(PluginError) {
            session = try await send(
                "PUT", "\(base)/api/token", [("x-aws-ec2-metadata-token-ttl-seconds", Secret("21600"))], name,
                within: Self.patience)
        } catch {
            // Who named an address wants to know; else this is no instance.
            guard own == nil else { throw error }
            return nil
        }
        guard session.status == 200, let token = session.text, !token.isEmpty, token.utf8.count <= 1024,
            token.utf8.allSatisfy(\.isVisibleASCII)
        else { return own == nil ? nil : try { () throws(PluginError) in throw Self.refusal(session, name) }() }
        return Instance(base: base, headers: [("x-aws-ec2-metadata-token", Secret(token))])
    }

    /// Returns the keys of the instance's role; nil if this is no instance of AWS's, or has no role.
    func keysOfInstance() async throws(PluginError) -> AWSKeys? {
        guard let instance = try await instance() else { return nil }
        let (headers, name) = (instance.headers, Instance.name)
        let roles = "\(instance.base)/meta-data/iam/security-credentials/"
        let list = try await send("GET", roles, headers, name, within: Self.patience)
        if list.status == 404 { return nil }
        let role = (list.text ?? "").pieces(between: "\n").first.map { String($0.trimmed()) } ?? ""
        guard list.status == 200, role.isRoleName else { throw Self.refusal(list, name) }
        let answer = try await send("GET", roles + role, headers, name, within: Self.patience)
        guard answer.status == 200, answer.json?["Code"].map({ $0 == "Success" }) ?? true else {
            throw Self.refusal(answer, name)
        }
        return try keys(answer, name)
    }

    /// Returns the region of the instance; nil if this is none of AWS's.
    func regionOfInstance() async throws(PluginError) -> String? {
        guard let instance = try await instance() else { return nil }
        let answer = try await send(
            "GET", "\(instance.base)/meta-data/placement/region", instance.headers, Instance.name, within: Self.patience
        )
        guard answer.status == 200 else { throw Self.refusal(answer, Instance.name) }
        return answer.text.map { String($0.trimmed()) }
    }

    private func keys(_ answer: HTTPAnswer, _ name: String) throws(PluginError) -> AWSKeys {
        let texts = ["AccessKeyId", "SecretAccessKey", "Token"].map { answer.json?[$0]?.string }
        guard let end = answer.json?["Expiration"]?.string.flatMap(SecurityTokenService.time),
            let keys = AWSKeys(texts, until: end, in: answer)
        else { throw PluginError(.internal, "\(name) gave no keys that can be used") }
        return keys
    }

    /// Sends a request without proxies.
    private func send(
        _ method: String, _ url: String, _ headers: [(String, Secret)], _ name: String, within limit: Duration
    ) async throws(PluginError) -> HTTPAnswer {
        var limits = HTTPClient.Limits()
        limits.connect = limit
        do {
            let identity: HTTPClient.ServerIdentity =
                url.hasPrefix("https:") ? .trusted(try TrustAnchors(NetworkSettings(environment: [:]))) : .anyone
            let client = HTTPClient(userAgent: "lanyard/\(Version.current)", identity, limits: limits)
            let request = HTTPRequest(method, url, headers: headers)
            let first = try await client.send(request, within: limit)
            guard first.isOutage else { return first }
            try await Task.sleep(for: .seconds(1))
            return try await client.send(request, within: limit)
        } catch {
            throw PluginError(
                .unavailable,
                "\(name) doesn't answer at \((StrictURL(web: url)?.hostText ?? url).displayable(limit: 200))",
                hint: "check that this machine has a role, and that a container may reach the service (hop limit)")
        }
    }

    private static func refusal(_ answer: HTTPAnswer, _ name: String) -> PluginError {
        let said = answer.json
        let words = (said?["message"] ?? said?["Message"] ?? said?["Code"])?.string ?? "HTTP \(answer.status)"
        let isOff = answer.status == 403 && name == Instance.name
        return PluginError(
            answer.isOutage ? .unavailable : .invalidRequest, "\(name) refuses: \(words.displayable(limit: 300))",
            hint: answer.isOutage
                ? "try again in a minute"
                : isOff
                    ? "turn the instance's metadata on, or use another identity here"
                    : "check the role that AWS gives this machine")
    }

    private static func wrong(_ variable: String, _ what: String) -> PluginError {
        PluginError(
            .invalidRequest, "the variable \(variable) \(what)",
            hint: "unset it, or set it as the machine's platform does")
    }
}

extension HTTPAnswer {
    fileprivate var isOutage: Bool { status >= 500 || status == 429 }
}
