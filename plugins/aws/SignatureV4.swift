import Addresses
import Crypto
import FoundationEssentials
import OAuth
import Secrets

/// AWS's Signature Version 4 of one request.
///
/// libcurl signs, too, but the versions in use sign some requests wrongly, such as those with unsorted queries.
struct SignatureV4: Sendable {
    let keys: AWSKeys
    let region: String
    let service: String
    var date = Date.now

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// Signs a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL, whose query is percent-encoded as it is sent.
    ///   - headers: The headers that the signature includes, besides `host`.
    ///   - body: The content.
    /// - Returns: The headers to send besides these, which are signed, too.
    func headers(
        _ method: String, _ url: String, signing headers: [(name: String, value: String)], body: String
    ) -> [(String, String)] {
        var own = [("x-amz-date", time)]
        if let session = keys.session { own.append(("x-amz-security-token", session.reveal())) }
        let place = SignedParts(url)
        let signed = Self.canonical(headers + own + [("host", place.host)])
        let names = signed.map(\.name).joined(separator: ";")
        let request = [
            method, place.path.percentEncoded { $0.isUnreserved || $0 == UInt8(ascii: "/") }, place.sortedQuery,
            signed.map { "\($0.name):\($0.value)\n" }.joined(), names, Self.digest(body),
        ].joined(separator: "\n")
        let text = [Self.algorithm, time, scope, Self.digest(request)].joined(separator: "\n")
        let signature = Self.code(text, with: key).hexadecimal
        let proof = "Credential=\(keys.id)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
        return own + [("authorization", "\(Self.algorithm) \(proof)")]
    }

    private var scope: String { "\(day)/\(region)/\(service)/aws4_request" }
    private var day: String { String(time.prefix(8)) }

    /// `20150830T123600Z`.
    private var time: String {
        date.formatted(
            .iso8601.year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
                .timeSeparator(.omitted)) + "Z"
    }

    /// The key of the day, derived from the secret one.
    private var key: SymmetricKey {
        [day, region, service, "aws4_request"].reduce(SymmetricKey(data: Data("AWS4\(keys.secret.reveal())".utf8))) {
            SymmetricKey(data: Self.code($1, with: $0))
        }
    }

    /// Names in lower case and in order, values without superfluous blanks; of headers with one name, all values.
    private static func canonical(_ headers: [(name: String, value: String)]) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for (name, value) in headers {
            values[name.lowercased(), default: []].append(value.pieces(between: " ").joined(separator: " "))
        }
        return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.joined(separator: ",")) }
    }

    private static func digest(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).hexadecimal }

    private static func code(_ text: String, with key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }

    /// The parts of a URL that are signed.
    private struct SignedParts {
        let host: String
        let path: String
        let sortedQuery: String

        init(_ url: String) {
            let rest = url.cut(atText: "://")?.1 ?? url[...]
            let (place, query) = rest.cut(at: "?") ?? (rest, "")
            let (host, path) = place.cut(at: "/") ?? (place, "")
            self.host = String(host)
            self.path = "/\(path)"
            let pairs = query.pieces(between: "&").map { pair in pair.cut(at: "=") ?? (pair, "") }
            // By bytes: Swift compares strings by what they mean.
            sortedQuery = pairs.map { (Array($0.0.utf8), Array($0.1.utf8)) }.sorted { first, second in
                first.0 == second.0
                    ? first.1.lexicographicallyPrecedes(second.1) : first.0.lexicographicallyPrecedes(second.0)
            }.map { "\(String(decoding: $0.0, as: UTF8.self))=\(String(decoding: $0.1, as: UTF8.self))" }
                .joined(separator: "&")
        }
    }
}
