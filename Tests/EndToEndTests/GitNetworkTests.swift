import TestSupport
import Testing

/// The way to an authority as git's settings have it: a proxy that refuses shows that it is used.
@Suite struct GitNetworkTests {
    private static let forbidden = "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n"

    @Test func `the settings for an authority's URL count for it, wherever they are set`() async throws {
        try await World.with { world in
            try await PlainServer.run(answering: Self.forbidden) { port in
                let key = "http.\(world.sandbox.authority).proxy"
                _ = try await world.git(["config", "--global", key, "http://127.0.0.1:\(port)"])
                let ended = try await world.get("common/hello.git", world.browser(as: "alice@contoso.example"))
                #expect(ended.errors.contains("the proxy 127.0.0.1:\(port) refused to connect"), "\(ended)")
                #expect(ended.errors.contains("lanyard: hint: check git's http.proxy and no_proxy"), "\(ended)")
                let doctor = try await world.lanyard(["doctor", "--all"])
                #expect(doctor.output.contains("http://127.0.0.1:\(port) (git's http.proxy)"), "\(doctor)")
                let excepted = world.browser(as: "alice@contoso.example").merging(["no_proxy": "localhost"]) { $1 }
                #expect(try await world.get("common/hello.git", excepted).status == 0)
            }
        }
    }

    @Test func `a repository's own settings count if git asks, and otherwise not`() async throws {
        try await World.with { world in
            let url = "\(world.sandbox.resource)/common/hello.git"
            try await PlainServer.run(answering: Self.forbidden) { port in
                for arguments in [
                    ["init", "-q"], ["remote", "add", "origin", url],
                    ["config", "http.\(world.sandbox.authority).proxy", "http://127.0.0.1:\(port)"],
                ] { _ = try await world.git(arguments) }
                let browser = world.browser(as: "alice@contoso.example")
                let fetch = try await world.git(["fetch", "-q", "origin"], browser)
                #expect(fetch.errors.contains("the proxy 127.0.0.1:\(port) refused to connect"), "\(fetch)")
                // Whoever made this folder could send tokens anywhere.
                #expect(try await world.get("common/hello.git", browser).status == 0)
            }
        }
    }

    @Test func `a remote's proxy is the authority's, too`() async throws {
        try await World.with { world in
            let port = try #require(world.sandbox.resource.split(separator: ":").last.flatMap { UInt16($0) })
            try await PlainServer.tunnelling(onlyTo: port) { proxy in
                for arguments in [
                    ["init", "-q"], ["remote", "add", "origin", "\(world.sandbox.resource)/common/hello.git"],
                    ["config", "remote.origin.proxy", "http://127.0.0.1:\(proxy)"],
                ] { _ = try await world.git(arguments) }
                let fetch = try await world.git(["fetch", "-q", "origin"], world.browser(as: "alice@contoso.example"))
                #expect(fetch.errors.contains("the proxy 127.0.0.1:\(proxy) refused to connect"), "\(fetch)")
            }
        }
    }
}
