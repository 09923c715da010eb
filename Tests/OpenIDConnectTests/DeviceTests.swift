import Foundation
import HTTP
import JSON
import Testing
import Vectors

@testable import OAuth
@testable import OpenIDConnect

/// The device authorization grant, as in RFC 8628 and at git hosts.
struct DeviceTests {
    @Test(arguments: OAuthVectors.followed("device-response"))
    func `a code is shown, or the next flow is tried`(_ vector: VectorCase) throws {
        let session = try Issuing.session(vector)
        do throws(OAuthError) {
            let code = try DeviceAuthorization(Issuing.answer(vector.input), from: "host")
            #expect(vector.isFine && vector.expected("outcome") != "next-flow")
            if let qr = vector.expected("qr") { #expect(code.completeURI == qr) }
            if let page = vector.expected("verification_uri") { #expect(code.verificationURI == page) }
            if let text = vector.expected("user_code") { #expect(code.userCode == text) }
            if let interval = vector.expect["interval"] { #expect(code.interval == interval.wholeNumber) }
            if let seconds = vector.expect["expires_in"] { #expect(code.expiresIn == seconds.wholeNumber) }
        } catch {
            let goesOn = session.shouldTryNextFlow(after: error)
            #expect(goesOn == (vector.expected("outcome") == "next-flow"))
            if !goesOn { #expect(vector.code == session.code(error), "\(error.message)") }
        }
    }

    @Test(arguments: OAuthVectors.followed("device-polling").filter { $0.input["answers"] != nil })
    func `polling waits as it is told, and ends as it should`(_ vector: VectorCase) async throws {
        let session = try Issuing.session(vector)
        var polling = DevicePolling(
            interval: vector.input["interval"]?.wholeNumber ?? 0,
            lifetime: vector.input["expires_in"]?.wholeNumber ?? 0,
            waitsFirst: session.client.waitsBeforePolling)
        var waits: [Int] = []
        var polls = 0
        let answers = vector.input["answers"]?.elements.compactMap(\.members) ?? []
        do throws(OAuthError) {
            _ = try await polling.run { seconds in
                if vector.input["cancelled_after"]?.wholeNumber == polls { throw CancellationError() }
                waits.append(seconds)
            } poll: { () throws(OAuthError) in
                defer { polls += 1 }
                return try Self.poll(answers[min(polls, answers.count - 1)], session)
            }
            #expect(vector.isFine)
        } catch {
            #expect(vector.code == session.code(error))
        }
        if let expected = vector.expect["waits"] { #expect(waits == expected.elements.compactMap(\.wholeNumber)) }
        if let expected = vector.expect["polls"] { #expect(polls == expected.wholeNumber) }
    }

    /// Returns the result of one poll; the transport's reaction to a status is tested with refusals.
    private static func poll(
        _ input: [String: JSONValue], _ session: IssuerSession
    ) throws(OAuthError) -> TokenResponse {
        if input["timeout"] != nil { throw OAuthError(.unavailable, "no answer") }
        let answer = Issuing.answer(input)
        guard answer.status < 429 else {
            var error = OAuthError(answer.status == 429 ? .throttled : .unavailable, "no")
            error.retryAfter = input["retry_after"]?.wholeNumber
            error.wasAnswered = true
            throw error
        }
        return try TokenResponse(answer, from: "host", stage: .device)
    }
}
