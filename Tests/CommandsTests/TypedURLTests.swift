import Model
import Terminal
import Testing

@testable import CommandKit
@testable import Commands
@testable import Diagnosis
@testable import Rules

/// URLs that people typed, shown to them again in parts.
@Suite struct TypedURLTests {
    @Test(
        arguments: [
            ("https://h.example", "https://me@h.example"), ("https://you@h.example/a?b", "https://me@h.example/a?b"),
            ("https://h.example?x@y/", "https://me@h.example?x@y/"),
            ("https://h.example#x@y/", "https://me@h.example#x@y/"),
            ("https://a:b@h.example:8443/x@y", "https://me@h.example:8443/x@y"), ("h.example/a", nil),
        ] as [(String, String?)])
    func `another user name leaves the host`(url: String, named: String?) {
        #expect(url.naming(user: "me") == named)
    }

    @Test(arguments: [
        ("https://h.example/a/b", "https://h.example"), ("https://me@h.example:8443", "https://me@h.example:8443"),
        ("https://h.example?a/b", "https://h.example"), ("https://h.example#a", "https://h.example"),
        ("the request", "the request"),
    ])
    func `a URL's place is all before its path`(url: String, place: String) {
        #expect(url.placeOfURL == place)
    }

    /// An address for ssh, and the URL of the same repository over https; nil if it is no address for ssh.
    private static let remotes: [(String, String?)] = [
        ("git@git.contoso.com:foo/bar.git", "https://git.contoso.com/foo/bar.git"),
        ("ssh://git@git.contoso.com:2222/foo/bar.git", "https://git.contoso.com/foo/bar.git"),
        ("git+ssh://git.contoso.com/foo", "https://git.contoso.com/foo"),
        ("git@ssh.dev.azure.com:v3/contoso/My%20Project/repo", "https://dev.azure.com/contoso/My%20Project/_git/repo"),
        ("ssh://git@ssh.dev.azure.com/v3/contoso/project/repo", "https://dev.azure.com/contoso/project/_git/repo"),
        ("ssh://git@ssh.dev.azure.com:22/v3/contoso/p/repo/", "https://dev.azure.com/contoso/p/_git/repo"),
        ("contoso@vs-ssh.visualstudio.com:v3/contoso/p/repo", "https://dev.azure.com/contoso/p/_git/repo"),
        ("ssh://contoso@vs-ssh.visualstudio.com:22/p/_ssh/repo", "https://dev.azure.com/contoso/p/_git/repo"),
        ("ssh://contoso@vs-ssh.visualstudio.com/_ssh/repo", "https://dev.azure.com/contoso/_git/repo"),
        ("ssh://git@ssh.github.com:443/foo/bar.git", "https://github.com/foo/bar.git"),
        ("git@ssh.github.com:443/foo/bar.git", "https://github.com/foo/bar.git"),
        ("git@SSH.GitHub.com:foo/bar.git", "https://github.com/foo/bar.git"),
        ("ssh://git@altssh.gitlab.com:443/foo/bar", "https://gitlab.com/foo/bar"),
        ("ssh://git@altssh.bitbucket.org:443/foo/bar.git", "https://bitbucket.org/foo/bar.git"),
        (
            "ssh://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x",
            "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/x"
        ),
        ("git@ssh.contoso.com:v3/a/b/c", "https://ssh.contoso.com/v3/a/b/c"),
        ("https://dev.azure.com/contoso", nil), ("localhost:foo", nil), ("git@git.contoso.com", nil),
    ]

    @Test(arguments: remotes)
    func `an address for ssh has a URL over https`(address: String, url: String?) {
        #expect(address.httpsOfSSH == url)
    }

    @Test(arguments: remotes.filter { $0.1 != nil }.map(\.0))
    func `an address for ssh is no URL`(address: String) {
        for parse in [{ _ = try CredentialRequest(url: $0) }, { _ = try URLPattern(typed: $0) }]
            as [(String) throws -> Void]
        {
            let failure = #expect(throws: CommandError.self) { try parse(address) }
            #expect(failure?.message.text.contains("is an address for ssh") == true, "\(String(describing: failure))")
        }
    }

    @Test(arguments: [
        ("htps://contoso.com/x", "https://contoso.com/x"), ("htttps://contoso.com", "https://contoso.com"),
        ("HTPS://contoso.com", "https://contoso.com"), ("httsp://contoso.com", "https://contoso.com"),
        ("ttps://contoso.com", "https://contoso.com"), ("https:/contoso.com/x", "https://contoso.com/x"),
        ("https//contoso.com", "https://contoso.com"), ("http//contoso.com", "http://contoso.com"),
        ("https:contoso.com", "https://contoso.com"), ("htps://", nil), ("http://contoso.com", nil),
        ("ftp://contoso.com", nil), ("ftps://contoso.com", nil), ("smtps://contoso.com", nil),
        ("git://contoso.com", nil), ("contoso.com", nil), ("http.contoso.com", nil), ("htps.contoso.com/x", nil),
    ])
    func `a misspelt https is told, and not taken for a scheme`(typed: String, meant: String?) throws {
        for parse in [{ _ = try CredentialRequest(url: $0) }, { _ = try URLPattern(typed: $0) }]
            as [(String) throws -> Void]
        {
            var hint: String?
            do { try parse(typed) } catch let failure as CommandError { hint = failure.hints.first?.line }
            if let meant {
                #expect(hint == "did you mean: \(meant)")
            } else {
                #expect(hint?.hasPrefix("did you mean") != true)
            }
        }
    }

    @Test func `an account is no URL, but a host with a user name is`() throws {
        let failure = #expect(throws: CommandError.self) { try CredentialRequest(url: "alice@contoso.com") }
        #expect(failure?.message == "alice@contoso.com is an account, and not a URL")
        #expect(failure?.hints.map(\.copied) == ["lanyard login --account alice@contoso.com URL"])
        for url in ["alice@git.contoso.com/", "https://alice@contoso.com", "git@git.contoso.com", "alice@localhost"] {
            #expect(throws: Never.self) { try CredentialRequest(url: url) }
        }
    }
}
