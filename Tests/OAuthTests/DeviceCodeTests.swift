import Foundation
import HTTP
import JSON
import Testing
import Vectors

@testable import OAuth

struct DeviceCodeTests {
    private static func tokens() throws -> TokenResponse {
        try TokenResponse(
            HTTPAnswer(status: 200, body: Array(#"{"access_token":"a"}"#.utf8)), from: "host",
            stage: .redemption)
    }

    @Test(arguments: Vectors.followed("device-code").filter { $0.text("poll_error") != nil })
    func `polling goes on and stops as RFC 8628 has it`(_ vector: VectorCase) async throws {
        let failure = ErrorResponse(error: try #require(vector.text("poll_error")))
        guard case .integer(let interval) = vector.input["interval"] else { return }
        var polling = DevicePolling(interval: Int(interval), lifetime: 900, waitsFirst: false)
        if case .integer(let next) = vector.expect["next_interval"] {
            let goesOn = polling.goesOn(after: failure)
            #expect(goesOn)
            #expect(polling.interval == Int(next))
            return
        }
        var slept = 0
        var polls = 0
        let tokens = try Self.tokens()
        var refusal: OAuthError?
        do throws(OAuthError) {
            _ = try await polling.run {
                slept += $0
            } poll: { () throws(OAuthError) in
                polls += 1
                guard polls > 1 else { throw OAuthError(failure, at: .device) }
                return tokens
            }
        } catch {
            refusal = error
        }
        #expect(vector.expect["polls"] == .integer(Int64(polls)))
        #expect(vector.expect["seconds_slept"] == .integer(Int64(slept)))
        switch refusal?.kind {
        case nil: #expect(vector.expected("result") == "retry")
        case .refused(let refused, _): #expect(vector.expected("error") == refused.error)
        default: Issue.record("polling ended some other way")
        }
    }

    @Test func `polling slows down where the authority can't be reached, and ends with the code`() async throws {
        var polling = DevicePolling(interval: 5, lifetime: 60, waitsFirst: false)
        var pauses: [Int] = []
        do throws(OAuthError) {
            _ = try await polling.run {
                pauses.append($0)
            } poll: { () throws(OAuthError) in
                throw OAuthError(.unavailable, "down")
            }
            Issue.record("the code should have expired")
        } catch {
            #expect(error == .codeExpired)
        }
        #expect(pauses == [10, 20])
    }

    @Test func `what the authority says is bounded`() throws {
        let body = """
            {"device_code":"d","user_code":"AB-12","verification_uri":"https://microsoft.com/devicelogin",
            "expires_in":"999999","interval":0}
            """
        let answer = HTTPAnswer(status: 200, body: Array(body.utf8))
        let code = try DeviceAuthorization(answer, from: "host")
        #expect(code.userCode == "AB-12")
        #expect(code.expiresIn == 3_600)
        #expect(code.interval == 1)
    }

    @Test(arguments: [
        ("https://a.example/d?user_code=A", "https://a.example/d?user_code=A" as String?),
        ("https://a.example/~d;v=1?user_code=A", "https://a.example/~d;v=1?user_code=A"),
        ("http://a.example/d?user_code=A", nil), ("https://a@b.example/d", nil), ("", nil),
    ])
    func `a page with the code in it is shown if it is https`(_ page: String, _ shown: String?) throws {
        let body = """
            {"device_code":"d","user_code":"A","verification_uri":"https://a.example/d",
            "verification_uri_complete":"\(page)","expires_in":900}
            """
        let answer = HTTPAnswer(status: 200, body: Array(body.utf8))
        #expect(try DeviceAuthorization(answer, from: "host").completeURI == shown)
    }

    @Test func `a page that is not https is not shown`() {
        let body = #"{"device_code":"d","user_code":"A","verification_uri":"http://evil.example/"}"#
        let answer = HTTPAnswer(status: 200, body: Array(body.utf8))
        #expect(throws: OAuthError.self) { try DeviceAuthorization(answer, from: "host") }
    }
}
