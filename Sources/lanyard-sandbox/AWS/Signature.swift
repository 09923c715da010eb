import Addresses
import Crypto
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import Synchronization

/// A request's Signature Version 4, as AWS checks it.
struct Signature {
    let method: String
    let path: String
    let query: String
    var body = ""
    /// Returns a header's value, that of `host`, too.
    let header: (String) -> String?

    /// Returns the keys that signed a visit's request for this service.
    ///
    /// - Throws: Why it isn't taken, in AWS's words.
    static func keys(of visit: Visit, for service: String, in world: World) throws(HostError)
        -> SecurityTokenService.Keys
    {
        let signature = Signature(
            method: visit.method.rawValue, path: visit.path, query: visit.request.uri.query ?? "", body: visit.body
        ) { $0 == "host" ? visit.request.head.authority : visit.header($0) }
        let keys = try signature.keys(for: service, in: world)
        visit.user = keys.name
        return keys
    }

    /// Returns the keys that made it.
    func keys(for service: String, in world: World) throws(HostError) -> SecurityTokenService.Keys {
        guard let header = self.header("Authorization"), header.hasPrefix("AWS4-HMAC-SHA256 ") else {
            throw HostError("MissingAuthenticationTokenException", "Missing Authentication Token")
        }
        var parts: [String: String] = [:]
        for part in header.dropFirst("AWS4-HMAC-SHA256 ".count).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingPrefix { $0 == " " } }
            if pair.count == 2 { parts[String(pair[0])] = String(pair[1]) }
        }
        let credential = (parts["Credential"] ?? "").split(separator: "/").map(String.init)
        let signed = (parts["SignedHeaders"] ?? "").split(separator: ";").map(String.init)
        guard credential.count == 5, credential[4] == "aws4_request",
            let keys = world.keys.withLock({ $0[credential[0]] }),
            self.header("X-Amz-Security-Token") == keys.session
        else {
            throw HostError(
                "UnrecognizedClientException", "The security token included in the request is invalid.")
        }
        guard keys.end > Date.now.unix else {
            throw HostError("ExpiredTokenException", "The security token included in the request is expired")
        }
        let time = self.header("X-Amz-Date") ?? ""
        guard credential[3] == service, time.hasPrefix(credential[1]), Self.isNow(time),
            signed == signed.sorted(), Set(signed).isSuperset(of: ["host", "x-amz-date", "x-amz-security-token"])
        else { throw Self.wrong }
        let headers = try signed.map { name throws(HostError) in
            guard let value = self.header(name) else { throw Self.wrong }
            return "\(name):\(value.split(separator: " ").joined(separator: " "))\n"
        }.joined()
        let pairs = query.split(separator: "&").map { pair in
            pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { Array($0.utf8) } + [[]]
        }
        // By the name, then by the value: `=` doesn't count.
        let sorted = pairs.sorted { first, second in
            first[0] == second[0]
                ? first[1].lexicographicallyPrecedes(second[1]) : first[0].lexicographicallyPrecedes(second[0])
        }.map { $0[0...1].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "=") }.joined(separator: "&")
        let path = path.split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).percentEncoded
        }.joined(separator: "/")
        let request = [
            method, path, sorted, headers, signed.joined(separator: ";"), Self.digest(body),
        ].joined(separator: "\n")
        let scope = credential.dropFirst().joined(separator: "/")
        let text = ["AWS4-HMAC-SHA256", time, scope, Self.digest(request)].joined(separator: "\n")
        var key = SymmetricKey(data: Data("AWS4\(keys.secret)".utf8))
        for part in credential.dropFirst() { key = SymmetricKey(data: Self.mac(part, key)) }
        guard Self.mac(text, key).hexadecimal == parts["Signature"] else { throw Self.wrong }
        return keys
    }

    private static let wrong = HostError(
        "InvalidSignatureException",
        "The request signature we calculated does not match the signature you provided.")

    private static func digest(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).hexadecimal }
    private static func mac(_ text: String, _ key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }

    /// Whether a time is within five minutes of this computer's clock.
    private static func isNow(_ text: String) -> Bool {
        let digits = Array(text.utf8)
        guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z") else { return false }
        let d = text.map(String.init)
        let iso =
            "\(d[0...3].joined())-\(d[4...5].joined())-\(d[6...7].joined())T\(d[9...10].joined()):\(d[11...12].joined()):\(d[13...14].joined())Z"
        guard let time = try? Date(iso, strategy: .iso8601) else { return false }
        return abs(time.timeIntervalSinceNow) < 300
    }
}
