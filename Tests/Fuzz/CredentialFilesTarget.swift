import Addresses
import JSON
import OAuth
import PluginWire

@testable import AWS
@testable import Google

extension FuzzTarget {
    /// The files with credentials that AWS's and Google's programs leave: Google's are JSON, and AWS's have sections.
    static let credentialFiles = FuzzTarget("credential-files") { input in
        if input.first == UInt8(ascii: "{") { try requireGoogle(input) } else { try requireAWS(input) }
    }

    private static func requireAWS(_ input: [UInt8]) throws {
        let text = String(decoding: input, as: UTF8.self)
        let files = SharedFiles(configuration: text, keys: "")
        for (name, values) in files.profiles {
            try require(!name.utf8.contains(UInt8(ascii: "\n")), "a profile's name of several lines")
            try require(
                values.values.allSatisfy { !$0.utf8.contains(UInt8(ascii: "\n")) }, "a value of several lines")
        }
        let found: String?
        do throws(PluginError) {
            found = try SharedFiles(configuration: "", keys: text).keys(ofProfile: "default")?.id
        } catch {
            return try requireError(error)
        }
        guard input.allSatisfy({ $0 < 0x80 }) else { return }
        try requireSame(Array((found ?? "").utf8), identifier(input), "another parser reads other keys")
    }

    /// Reads `aws_access_key_id` of the profile `default` byte by byte.
    private static func identifier(_ input: [UInt8]) -> [UInt8] {
        func trimmed(_ bytes: some Sequence<UInt8>) -> [UInt8] {
            let blanks: Set<UInt8> = [0x20, 0x09, 0x0D]
            return Array(Array(bytes.drop { blanks.contains($0) }).reversed().drop { blanks.contains($0) }.reversed())
        }
        var (isDefault, found) = (false, [] as [UInt8])
        for line in input.split(separator: 0x0A) {
            guard let first = line.first, !"#; \t".utf8.contains(first) else { continue }
            if first == UInt8(ascii: "["), let end = line.lastIndex(of: UInt8(ascii: "]")) {
                isDefault = trimmed(line[..<end].dropFirst()) == Array("default".utf8)
            } else if isDefault, let sign = line.firstIndex(of: UInt8(ascii: "=")),
                trimmed(line[..<sign]).lowercasedASCII == Array("aws_access_key_id".utf8)
            {
                found = trimmed(line[(sign + 1)...])
            }
        }
        return found
    }

    private static func requireGoogle(_ input: [UInt8]) throws {
        var request = PluginRequest(.authenticate)
        request.identity = PluginIdentity(.managed)
        let surroundings = GoogleSurroundings(identity: PluginIdentity(.managed), root: "/nowhere")
        guard let hosts = accepted({ try GoogleHosts(request) }),
            let transport = accepted({ try Transport(.init(userAgent: "fuzz", environment: [:])) })
        else { return try require(false, "no way to Google") }
        for text in texts(JSONValue(bytes: input) ?? .null) {
            guard accepted({ try hosts.checked(text, ["sts", "oauth2"], "url", in: "it") }) != nil else { continue }
            let url = OtherURL(Array(text.utf8), asBrowsers: false)
            let host = String(decoding: url?.host ?? [], as: UTF8.self)
            try require(
                url?.scheme == Array("https".utf8)
                    && (host.hasSuffix(".googleapis.com") || host == "accounts.google.com"),
                "a secret would go to \(text)")
        }
        do throws(PluginError) {
            let file = try CredentialsFile(input, of: "/file.json")
            _ = try file.credentials(surroundings, GoogleServices(hosts: hosts, transport: transport))
        } catch {
            try requireError(error)
        }
    }

    private static func texts(_ value: JSONValue) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let elements): elements.flatMap(texts)
        case .object(let members): members.values.flatMap(texts)
        default: []
        }
    }
}
