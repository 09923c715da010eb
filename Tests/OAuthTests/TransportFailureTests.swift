import HTTP
import Testing

@testable import OAuth

struct TransportFailureTests {
    @Test func `causes are told apart`() {
        func message(_ reason: HTTPError.Reason, proxy: String? = nil) -> String {
            OAuthError(HTTPError(reason, proxy: proxy), host: "login.example").message
        }
        #expect(message(.unreachable(.noRoute)) == "cannot reach login.example: no route to it")
        #expect(message(.unreachable(.timedOut)).hasSuffix("the connection timed out"))
        #expect(message(.timedOut, proxy: "p:1").hasSuffix("did not answer in time through the proxy p:1"))
        #expect(message(.refusedByProxy(nil), proxy: "p:1").hasPrefix("the proxy p:1 refused"))
        #expect(message(.proxyWantsPassword, proxy: "p:1").contains("asks for a user name"))
        #expect(message(.closed).contains("closed the connection"))
    }
}
