import Foundation
import PluginWire
import Secrets
import SeededRandom
import TestSupport
import Testing

@testable import AWS

/// Signatures, compared with those of AWS's own library.
struct SignatureTests {
    /// A request to sign.
    private struct Case: Codable {
        var method: String
        var url: String
        var headers: [String: String]
        var body: String
        var id: String
        var secret: String
        var session: String?
        var region: String
        var service: String
    }

    private static let time = Date(timeIntervalSince1970: 1_440_938_160)  // 2015-08-30T12:36:00Z

    private static func signature(_ given: Case) -> String {
        let keys = AWSKeys(id: given.id, secret: Secret(given.secret), session: given.session.map { Secret($0) })
        let signature = SignatureV4(keys: keys, region: given.region, service: given.service, date: time)
        let headers = signature.headers(
            given.method, given.url, signing: given.headers.map { ($0.key, $0.value) }, body: given.body)
        return headers.first { $0.0 == "authorization" }?.1 ?? ""
    }

    @Test func `a request to ECR has the known signature`() {
        let given = Case(
            method: "POST", url: "https://api.ecr.us-east-1.amazonaws.com/",
            headers: [
                "content-type": "application/x-amz-json-1.1",
                "x-amz-target": "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
            ], body: "{}", id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", region: "us-east-1",
            service: "ecr")
        let expected = "527a2155e9afc2426cb4c659023df9c031e8103458f349819615ff25111f5de0"
        #expect(Self.signature(given).hasSuffix("Signature=\(expected)"), "\(Self.signature(given))")
    }

    @Test(.enabled(if: Clients.folder != nil))
    func `random requests are signed as botocore signs them`() async throws {
        var random = SeededGenerator(seed: 43)
        let cases = (0..<400).map { _ in Self.random(&random) }
        let input = String(decoding: try JSONEncoder().encode(cases), as: UTF8.self)
        let ended = try await run(Clients.program("python3"), ["-c", Self.botocore], input: input, environment: [:])
        let expected = ended.output.split(separator: "\n").map(String.init)
        try #require(expected.count == cases.count, "\(ended)")
        for (given, signature) in zip(cases, expected) { #expect(Self.signature(given) == signature, "\(given)") }
    }

    private static func text(_ alphabet: String, _ lengths: ClosedRange<Int>, _ random: inout SeededGenerator) -> String
    {
        let letters = Array(alphabet)
        return String(
            (0..<Int.random(in: lengths, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
    }

    private static func random(_ random: inout SeededGenerator) -> Case {
        let plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let encoded = { (text: String) in
            text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: plain + "-._~")) ?? ""
        }
        let odd = plain + "-._~ :/=&+@,é$!*'()"
        let path = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            encoded(text(plain + " :/=&+@,é$!*'()~_-", 1...9, &random))
        }
        let pairs = (0..<Int.random(in: 0...5, using: &random)).map { _ in
            encoded(text(odd, 1...4, &random)) + "=" + encoded(text(odd, 0...9, &random))
        }
        let query = pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
        var headers: [String: String] = ["content-type": "application/\(text(plain, 1...9, &random))"]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            headers["x-amz-" + text("abc-", 1...6, &random).lowercased()] = text(plain + "  ;,", 1...30, &random)
        }
        return Case(
            method: ["GET", "POST", "PUT"].randomElement(using: &random) ?? "GET",
            url: "https://\(text("abc", 1...9, &random)).example.com/\(path.joined(separator: "/"))\(query)",
            headers: headers, body: text(odd + "{}\"\n", 0...90, &random), id: "ASIA" + text(plain, 16...16, &random),
            secret: text(plain + "+/", 40...40, &random),
            session: Bool.random(using: &random) ? text(plain + "+/=", 50...400, &random) : nil,
            region: ["eu-central-1", "cn-north-1", "us-gov-west-1"].randomElement(using: &random) ?? "",
            service: ["ecr", "ecr-public", "sts", "codeartifact"].randomElement(using: &random) ?? "")
    }

    /// Signs the cases with the AWS CLI's library, at the tests' time.
    private static let botocore = """
        import datetime, json, sys
        from awscli.botocore import auth, awsrequest, credentials
        now = datetime.datetime(2015, 8, 30, 12, 36, 0, tzinfo=datetime.timezone.utc)
        for case in json.load(sys.stdin):
            request = awsrequest.AWSRequest(
                method=case["method"], url=case["url"], headers=case["headers"], data=case["body"].encode())
            keys = credentials.Credentials(case["id"], case["secret"], case.get("session"))
            signer = auth.SigV4Auth(keys, case["service"], case["region"])
            auth.get_current_datetime = lambda remove_tzinfo=True: now.replace(tzinfo=None) if remove_tzinfo else now
            signer.add_auth(request)
            print(request.headers["Authorization"])
        """
}
