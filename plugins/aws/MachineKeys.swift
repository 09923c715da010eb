import Addresses
import Files
import FoundationEssentials
import HTTP
import OAuth
import PluginOAuth
import PluginWire
import Secrets

/// The keys that a machine has without a user, found where AWS's SDKs look, in their order: variables, the profile, a web
/// identity, the shared files, the container's service, the instance's metadata.
struct MachineKeys: Sendable {
    let variables: Variables
    let request: PluginRequest
    let transport: Transport
    let metadata: MetadataService

    /// The variables of the SDKs.
    struct Variables: Sendable {
        private let identity: PluginIdentity?

        init(_ identity: PluginIdentity?) { self.identity = identity }

        /// Returns a variable's value; nil if it is unset or empty.
        subscript(name: String) -> String? { identity?.variable(name) }

        /// Returns the keys in the variables themselves; nil if there are none.
        func keys() throws(PluginError) -> AWSKeys? {
            let (id, secret) = (self["AWS_ACCESS_KEY_ID"], self["AWS_SECRET_ACCESS_KEY"])
            guard let id, let secret else {
                if id != nil { throw .lacking("AWS_SECRET_ACCESS_KEY", beside: "AWS_ACCESS_KEY_ID") }
                if secret != nil { throw .lacking("AWS_ACCESS_KEY_ID", beside: "AWS_SECRET_ACCESS_KEY") }
                return nil
            }
            let session = self["AWS_SESSION_TOKEN"] ?? self["AWS_SECURITY_TOKEN"]
            let end = self["AWS_CREDENTIAL_EXPIRATION"].flatMap(SecurityTokenService.time)
            return try AWSKeys(id, secret, session, until: end, from: "the variables")
        }
    }

    /// The greatest number of profiles that name one another.
    private static let longestChain = 8

    init(_ request: PluginRequest, over transport: Transport) {
        (self.request, self.transport) = (request, transport)
        variables = Variables(request.identity)
        metadata = MetadataService(variables: variables)
    }

    /// Finds the keys, and where they are, for users.
    ///
    /// - Throws: `unavailable` if nothing here has any; `invalid-request` if what has some is wrong.
    func found() async throws(PluginError) -> (keys: AWSKeys, words: String) {
        if let keys = try variables.keys() { return (keys, "the keys of AWS_ACCESS_KEY_ID") }
        let files = try SharedFiles(variables)
        let name = variables["AWS_DEFAULT_PROFILE"] ?? variables["AWS_PROFILE"]
        if let name, !files.profiles.keys.contains(name) {
            throw PluginError(
                .invalidRequest, "there is no profile \(name.displayable(limit: 100)) in AWS's files",
                hint: "check AWS_PROFILE, and the files that AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name")
        }
        if let keys = try await keys(ofProfile: name ?? "default", in: files, after: []) {
            let isOfVariable =
                variables["AWS_WEB_IDENTITY_TOKEN_FILE"] != nil && files.profiles[name ?? "default"] == nil
            return (keys, isOfVariable ? "the role of AWS_ROLE_ARN" : "the profile \(name ?? "default")")
        }
        if variables["AWS_ROLE_ARN"] != nil { throw .lacking("AWS_WEB_IDENTITY_TOKEN_FILE", beside: "AWS_ROLE_ARN") }
        if let keys = try await metadata.keysOfContainer() { return (keys, "the container's role") }
        if let keys = try await metadata.keysOfInstance() { return (keys, "the instance's role") }
        throw PluginError(
            .unavailable,
            "nothing on this machine has keys of AWS: no variables, no profile, no container, no instance",
            hint: "run it where AWS gives a role to the machine, or set what the AWS CLI would need there")
    }

    /// Returns what a profile gives; nil if it says nothing of keys.
    private func keys(
        ofProfile name: String, in files: SharedFiles, after others: [String]
    ) async throws(PluginError) -> AWSKeys? {
        let profile = files.profiles[name] ?? [:]
        let shown = name.displayable(limit: 100)
        let isFirst = others.isEmpty
        // A profile that others name has its own keys first.
        if !isFirst, let keys = try files.keys(ofProfile: name) { return keys }
        if let role = profile["role_arn"], profile["web_identity_token_file"] == nil {
            let source = try await source(ofRoleIn: profile, name, files, others)
            return try await assume(role, profile, by: source)
        }
        // Each variable counts before the profile's own value, but not for a profile that others name.
        func value(_ key: String, _ variable: String) -> String? {
            (isFirst ? variables[variable] : nil) ?? profile[key]
        }
        if let file = value("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE") {
            let isOfVariable = isFirst && variables["AWS_WEB_IDENTITY_TOKEN_FILE"] != nil
            let place = isOfVariable ? "AWS_WEB_IDENTITY_TOKEN_FILE" : "web_identity_token_file of the profile \(shown)"
            guard let role = value("role_arn", "AWS_ROLE_ARN") else {
                throw .lacking(isOfVariable ? "AWS_ROLE_ARN" : "role_arn", beside: place)
            }
            return try await keys(
                ofTokenIn: file, named: place, role, value("role_session_name", "AWS_ROLE_SESSION_NAME"))
        }
        let userKeys = ["sso_account_id", "sso_role_name"].filter { profile[$0] != nil }
        if let keys = try userKeys.isEmpty ? files.keys(ofProfile: name) : nil { return keys }
        let further = ["sso_session", "sso_start_url"].filter { profile[$0] != nil }
        if !(userKeys + further).isEmpty {
            throw PluginError(
                .invalidRequest, "the profile \(shown) signs a user in, not this machine",
                hint: "make a rule for its user instead: lanyard configure aws --profile \(shown)")
        }
        if profile["login_session"] != nil {
            throw PluginError(
                .invalidRequest,
                "the profile \(shown) has the user's own sign-in of aws login, which lanyard can't use",
                hint: "have the identity use another profile, by AWS_PROFILE, or make a rule with a sign-in at IAM "
                    + "Identity Center")
        }
        if let command = profile["credential_process"] {
            let isOwn = command.pieces(between: " ").first?.pieces(between: "/").last == "lanyard"
            throw PluginError(
                .invalidRequest,
                "the profile \(shown) has its keys from "
                    + (isOwn ? "lanyard itself" : "a program, which lanyard doesn't run"),
                hint: "have the identity use another profile, by AWS_PROFILE")
        }
        if let key = ["source_profile", "credential_source"].first(where: { profile[$0] != nil }) {
            throw .lacking("role_arn", beside: "\(key) of the profile \(shown)")
        }
        return nil
    }

    private func source(
        ofRoleIn profile: [String: String], _ name: String, _ files: SharedFiles, _ others: [String]
    ) async throws(PluginError) -> AWSKeys {
        let shown = name.displayable(limit: 100)
        func wrong(_ what: String, _ hint: String) -> PluginError { PluginError(.invalidRequest, what, hint: hint) }
        guard profile["mfa_serial"] == nil else {
            throw wrong(
                "the profile \(shown) wants a code of a device", "use a role that a machine may assume without one")
        }
        switch (profile["source_profile"], profile["credential_source"]) {
        case (let next?, nil):
            guard files.profiles.keys.contains(next) else {
                throw wrong(
                    "the profile \(shown) names the source_profile \(next.displayable(limit: 100)), which there isn't",
                    "check the name")
            }
            if next == name {
                if let keys = try files.keys(ofProfile: name) { return keys }
                throw wrong("the profile \(shown) is its own source, and has no keys", "name another source_profile")
            }
            guard !others.contains(next), others.count < Self.longestChain else {
                throw wrong("the profile \(shown) leads back to itself", "check source_profile of each")
            }
            if let keys = try await keys(ofProfile: next, in: files, after: others + [name]) { return keys }
            throw wrong("the profile \(next.displayable(limit: 100)) has no keys for \(shown)", "check source_profile")
        case (nil, let source?):
            let keys: AWSKeys? =
                switch source.lowercased() {
                case "environment": try variables.keys()
                case "ecscontainer": try await metadata.keysOfContainer()
                case "ec2instancemetadata": try await metadata.keysOfInstance()
                default:
                    throw wrong(
                        "the profile \(shown) has an unknown credential_source",
                        "write Environment, EcsContainer or Ec2InstanceMetadata")
                }
            if let keys { return keys }
            throw wrong("the profile \(shown) has no keys of its credential_source", "check that it is right here")
        default:
            throw wrong(
                "the profile \(shown) needs either source_profile or credential_source for its role",
                "keep one of them")
        }
    }

    private func assume(
        _ role: String, _ profile: [String: String], by keys: AWSKeys
    ) async throws(PluginError) -> AWSKeys {
        try requireRole(role)
        var options = SecurityTokenService.Options(sessionName: try sessionName(profile["role_session_name"]))
        options.externalID = profile["external_id"]
        options.duration = profile["duration_seconds"]
        let region = try region(profile)
        return try await SecurityTokenService(url: region.url("sts"), transport: transport).keys(
            role, by: keys, in: region, options)
    }

    private func keys(
        ofTokenIn file: String, named place: String, _ role: String, _ name: String?
    ) async throws(PluginError) -> AWSKeys {
        try requireRole(role)
        let text: String
        do throws(FileError) {
            text = String(decoding: try OpenFile(file).contents(atMost: 20_000), as: UTF8.self)
        } catch {
            throw PluginError(
                .unavailable, "the token file \(file.displayable(limit: 300)) can't be read: \(error.reason)",
                hint: "check \(place), and that the pod mounts the token")
        }
        let token = String(text.trimmed(of: " \t\r\n"))
        guard token.utf8.count >= 4, token.utf8.allSatisfy(\.isVisibleASCII) else {
            throw PluginError(.invalidRequest, "the token file \(file.displayable(limit: 300)) contains no token")
        }
        let service = SecurityTokenService(url: try region([:]).url("sts"), transport: transport)
        return try await service.keys(role, token: Secret(token), .init(sessionName: try sessionName(name)))
    }

    private func requireRole(_ role: String) throws(PluginError) {
        guard SecurityTokenService.isRole(role) else {
            throw PluginError(.invalidRequest, "\(role.displayable(limit: 200)) is not the ARN of a role")
        }
    }

    private func sessionName(_ name: String?) throws(PluginError) -> String {
        try name?.asSessionName("the name of the role's session") ?? "lanyard"
    }

    private func region(_ profile: [String: String]) throws(PluginError) -> Region {
        let name = variables["AWS_REGION"] ?? variables["AWS_DEFAULT_REGION"] ?? profile["region"]
        return try Region(name ?? request.options["region"] ?? "us-east-1", request)
    }
}

extension PluginError {
    /// The error for one of two settings of which AWS's SDKs need both.
    fileprivate static func lacking(_ name: String, beside other: String) -> PluginError {
        PluginError(.invalidRequest, "\(other) is set without \(name)", hint: "set both, or neither")
    }
}

/// The SDKs' shared files: the configuration and the keys, whose sections of one profile are one.
struct SharedFiles: Sendable {
    /// The keys and values of each profile.
    private(set) var profiles: [String: [String: String]] = [:]
    /// What only the file with keys says.
    private var keys: [String: [String: String]] = [:]

    private static let longest = 1 << 20

    /// Creates the profiles of both files' contents.
    init(configuration: String, keys: String) {
        add(configuration, true)
        add(keys, false)
    }

    /// Reads the files that the variables name, or the usual ones.
    init(_ variables: MachineKeys.Variables) throws(PluginError) {
        var texts: [String] = []
        let home = variables["HOME"] ?? ""
        for (variable, usual) in [("AWS_CONFIG_FILE", "config"), ("AWS_SHARED_CREDENTIALS_FILE", "credentials")] {
            var path = variables[variable] ?? "\(home)/.aws/\(usual)"
            if path == "~" || path.hasPrefix("~/") { path = home + path.dropFirst() }
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw PluginError(
                    .invalidRequest, "\(variable) is no path from the root",
                    hint: "write it with a leading slash: other folders mean other files")
            }
            do throws(FileError) {
                texts.append(String(decoding: try OpenFile(path).contents(atMost: Self.longest), as: UTF8.self))
            } catch {
                guard !error.isMissing else {
                    texts.append("")
                    continue
                }
                throw PluginError(
                    .invalidRequest, "\(path.displayable(limit: 300)) can't be read: \(error.reason)",
                    hint: "check \(variable) and the file's permissions")
            }
        }
        self.init(configuration: texts[0], keys: texts[1])
    }

    private mutating func add(_ text: String, _ isConfiguration: Bool) {
        var name: String?
        for row in text.pieces(between: "\n").map({ $0.trimmedEnd }) {
            guard let first = row.utf8.first, !"#;".utf8.contains(first) else { continue }
            if first == UInt8(ascii: "["), let end = row.utf8.lastIndex(of: UInt8(ascii: "]")) {
                name = Self.profile(String(row[..<end].dropFirst()), isConfiguration)
                if let name { profiles[name, default: [:]].merge([:]) { $1 } }
            } else if let name, first != 0x20, first != 0x09, let (key, value) = row.cut(at: "=") {
                let key = key.trimmed().lowercased()
                profiles[name, default: [:]][key] = String(value.trimmed())
                if !isConfiguration { keys[name, default: [:]][key] = String(value.trimmed()) }
            }
        }
    }

    /// Returns the profile of a section's header; nil if it is for something else.
    private static func profile(_ header: String, _ isConfiguration: Bool) -> String? {
        let text = String(header.trimmed(of: " \t"))
        guard isConfiguration, text != "default" else { return text }
        guard text.utf8.starts(with: "profile".utf8), let rest = text.cut(at: " ")?.1.trimmed(of: " \t\"'"),
            !rest.isEmpty
        else { return nil }
        return String(rest)
    }

    /// Returns the keys that a profile has in the files, those of the file for keys first; nil if it has none.
    func keys(ofProfile name: String) throws(PluginError) -> AWSKeys? {
        for values in [keys[name], profiles[name]].compactMap(\.self) {
            guard let id = values["aws_access_key_id"] else { continue }
            let shown = name.displayable(limit: 100)
            guard let secret = values["aws_secret_access_key"] else {
                throw PluginError(
                    .invalidRequest, "the profile \(shown) has aws_access_key_id without aws_secret_access_key",
                    hint: "write both, or neither")
            }
            let session = values["aws_session_token"] ?? values["aws_security_token"]
            return try AWSKeys(id, secret, session, until: nil, from: "the profile \(shown)")
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmedEnd: Substring {
        let end = utf8.lastIndex { ![0x20, 0x09, 0x0D].contains($0) }
        return end.map { self[...$0] } ?? ""
    }
}
