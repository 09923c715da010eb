import Addresses
import Testing

/// Redirect URIs: those that lanyard can listen at, and those that end elsewhere.
@Suite struct RedirectURITests {
    /// A URI, and what is sent for it if lanyard listens at port 4711.
    private static let loopbacks: [(text: String, sent: String, path: String)] = [
        ("http://localhost", "http://localhost:4711", "/"), ("http://127.0.0.1/", "http://127.0.0.1:4711/", "/"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:4711/cb", "/cb"),
        ("http://[::1]/cb?a=b%20c", "http://[::1]:4711/cb?a=b%20c", "/cb"),
        ("http://localhost?a=b", "http://localhost:4711?a=b", "/"),
        ("http://localhost:8400", "http://localhost:8400", "/"),
        ("http://127.0.0.1:80/cb", "http://127.0.0.1:80/cb", "/cb"),
        ("http://localhost/a//b/%2e", "http://localhost:4711/a//b/%2e", "/a//b/%2e"),
    ]

    @Test(arguments: loopbacks)
    func `a loopback URI gets the listener's port unless it fixes one`(text: String, sent: String, path: String) throws
    {
        let redirect = try #require(RedirectURI(text))
        #expect(redirect.isLoopback && redirect.path == path)
        #expect(redirect.text(listeningAt: 4711) == sent && redirect.text(listeningAt: nil) == text)
        #expect((redirect.port == nil) == (sent != text))
        let again = try #require(RedirectURI(sent))
        #expect(again.text(listeningAt: 1) == sent && again.port != nil)
    }

    @Test(arguments: [
        "https://login.microsoftonline.com/common/oauth2/nativeclient", "https://app.example:8443/cb",
        "https://localhost/cb", "https://localhost:8443/cb",
    ])
    func `at an https URI nobody listens`(text: String) throws {
        let redirect = try #require(RedirectURI(text))
        #expect(!redirect.isLoopback && redirect.port == nil && redirect.text(listeningAt: 4711) == text)
    }

    @Test(arguments: [
        "http://example.com", "http://localhost.evil.example", "http://127.0.0.1.evil.example/", "http://127.0.0.2/",
        "http://localhost@evil.example/", "http://localhost:4711@evil.example/", "http://evil.example\\@localhost/",
        "http://localhost\u{301}/", "http://127.1/", "http://[::1%25lo]/", "http://localhost#x", "https://a.example/#",
        "http://localhost:0/", "http://localhost:65536/", "http://localhost:/", "localhost", "/cb", "file:///tmp/cb",
        "",
    ])
    func `a URI that leaves this computer in the clear is refused`(text: String) {
        #expect(RedirectURI(text) == nil)
    }

    @Test(arguments: URLCase.all)
    func `a hostile URL is no way to another computer`(row: URLCase) {
        guard let redirect = RedirectURI(row.url), redirect.isLoopback else { return }
        #expect(["127.0.0.1", "localhost", "[::1]"].contains(StrictURL(row.url)?.host.withoutAnyPort.text))
    }
}
