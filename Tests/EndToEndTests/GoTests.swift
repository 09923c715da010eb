import Foundation
import TestSupport
import Testing

/// Go downloads modules from a proxy that requires a token.
@Suite(.enabled(if: Clients.folder != nil, "there are none: script/get tools says why"))
struct GoTests {
    private static let module = "example.com/hello"

    /// Runs the body with a proxy for one version of a module.
    private static func with(_ body: @escaping @Sendable (World, GuardedServer) async throws -> Void) async throws {
        try await World.with { world in
            try await GuardedServer.serve(.files, in: world.folder + "/proxy") { proxy in
                for name in ["hello", "hello/sub"] {
                    let path = "go/example.com/\(name)/@v"
                    let mod = "module example.com/\(name)\n"
                    try proxy.put("v1.0.0\n", at: path + "/list")
                    try proxy.put(#"{"Version":"v1.0.0"}"#, at: path + "/v1.0.0.info")
                    try proxy.put(mod, at: path + "/v1.0.0.mod")
                    let prefix = "example.com/\(name)@v1.0.0"
                    let zip = try await run(
                        "/usr/bin/python3",
                        [
                            "-c",
                            "import sys, zipfile; z = zipfile.ZipFile(sys.argv[1], 'w'); z.writestr(sys.argv[2], sys.argv[3])",
                            "\(world.folder)/work/hello.zip", prefix + "/go.mod", mod,
                        ], environment: ["PATH": Programs.folder])
                    try #require(zip.status == 0, "\(zip)")
                    let bytes = try #require(FileManager.default.contents(atPath: world.folder + "/work/hello.zip"))
                    try proxy.put(Array(bytes), at: path + "/v1.0.0.zip")
                }
                try await body(world, proxy)
            }
        }
    }

    /// Downloads a module into a new cache.
    private static func download(
        _ modules: [String], in world: World, from proxy: GuardedServer, path: String = "go"
    ) async throws -> Ended {
        try await world.tool(
            Clients.program("go"), ["mod", "download", "-modcacherw", "-x"] + modules.map { $0 + "@v1.0.0" },
            [
                "GOAUTH": "lanyard goauth", "GOPROXY": "\(proxy.url)/\(path)", "GOSUMDB": "off", "GOTOOLCHAIN": "local",
                "GOFLAGS": "-mod=mod", "GOPATH": "\(world.folder)/go-\(UUID().uuidString)", "GO111MODULE": "on",
                "GOCACHE": world.folder + "/go-cache", "SSL_CERT_FILE": proxy.caFile, "GOTELEMETRY": "off",
            ])
    }

    @Test func `a module is refused once, and then all its files come`() async throws {
        try await Self.with { world, proxy in
            try world.configure(rule: proxy.url + "/go", at: "contoso.example")
            let place = proxy.url + "/go"
            let token = try await world.lanyard(["token", place], world.browser(as: "alice@contoso.example"))
            try proxy.guarded(by: "Bearer \(token.lines.first ?? "")")
            let ended = try await Self.download([Self.module], in: world, from: proxy)
            #expect(ended.status == 0, "\(ended)")
            let files = "/go/example.com/hello/@v/v1.0.0"
            #expect(
                try proxy.readLog() == [
                    "401 \(files).info", "200 \(files).info", "200 \(files).mod", "200 \(files).zip",
                ])
            // Another module has another URL, which another rule might match.
            let both = try await Self.download([Self.module, Self.module + "/sub"], in: world, from: proxy)
            #expect(both.status == 0, "\(both)")
            #expect(try proxy.readLog().filter { $0.hasPrefix("401") }.count == 2)
            #expect(!(ended.errors + both.errors).contains(token.lines.first ?? ""))
        }
    }

    @Test func `a password for a path above serves, and nothing goes anywhere else`() async throws {
        try await Self.with { world, proxy in
            let lines = "url=\(proxy.url)/go\nusername=alice\npassword=secret\n"
            #expect(try await world.lanyard(["store"], input: lines).status == 0)
            try proxy.guarded(by: "Basic YWxpY2U6c2VjcmV0")
            let ended = try await Self.download([Self.module], in: world, from: proxy)
            #expect(ended.status == 0, "\(ended)")
            let url = "\(proxy.url)/go/example.com/hello/@v/list"
            #expect(
                try await world.lanyard(["goauth", url]).output.contains("Authorization: Basic YWxpY2U6c2VjcmV0\n"))
            for other in [
                url.replacing("/go/", with: "/gopher/"), url.replacing("https", with: "http"),
            ] {
                let nothing = try await world.lanyard(["goauth", other])
                #expect(nothing.status == 0 && nothing.output.isEmpty && nothing.errors.isEmpty, "\(other) \(nothing)")
            }
        }
    }

    @Test func `without a sign-in go fails at once, and nobody is asked`() async throws {
        try await Self.with { world, proxy in
            try world.configure(rule: proxy.url + "/go", at: "contoso.example")
            try proxy.guarded(by: "Bearer none")
            let browser = world.browser(as: "alice@contoso.example")
            let refused = try await world.lanyard(["goauth", proxy.url + "/go/m"], browser)
            #expect(refused.status == 2 && refused.output.isEmpty, "\(refused)")
            #expect(refused.errors.contains("lanyard login \(proxy.url)/go/m"), "\(refused)")
            let ended = try await Self.download([Self.module], in: world, from: proxy)
            #expect(ended.status == 1 && ended.errors.contains("lanyard login "), "\(ended)")
        }
    }
}
