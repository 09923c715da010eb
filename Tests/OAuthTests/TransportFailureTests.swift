import AsyncHTTPClient
import Glibc
import NIOCore
import Testing

@testable import OAuth

struct TransportFailureTests {
    @Test func `causes are told apart`() {
        func message(_ error: any Error, proxy: String? = nil) -> String {
            TransportFailure(error).oauthError(host: "login.example", proxy: proxy).message
        }
        #expect(message(IOError(errnoCode: ENETUNREACH, reason: "")) == "cannot reach login.example: no route to it")
        #expect(message(HTTPClientError.connectTimeout).hasSuffix("the connection timed out"))
        #expect(
            message(HTTPClientError.readTimeout, proxy: "p:1").hasSuffix("did not answer in time through the proxy p:1")
        )
        #expect(message(HTTPClientError.invalidProxyResponse, proxy: "p:1").hasPrefix("the proxy p:1 refused"))
        #expect(message(HTTPClientError.proxyAuthenticationRequired, proxy: "p:1").contains("asks for a user name"))
        #expect(message(IOError(errnoCode: ECONNRESET, reason: "")).contains("closed the connection"))
    }
}
