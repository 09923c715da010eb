import Foundation
import TestSupport
import Testing

/// What a server learns that git asks how to sign in: nothing about the user.
@Suite struct ServerQuestionTests {
    @Test(arguments: ["/team/app.git", "/a=b/app.git"])
    func `no password, cookie, header or ticket is sent, wherever git and curl find them`(path: String) async throws {
        try await Home.with { home in
            try await GuardedServer.serve(.files, in: home.folder + "/server") { server in
                try server.guarded(by: "nobody's", challenge: "Basic realm=\"GitLab\"")
                let host = server.url.dropFirst("https://".count)
                let own = home.folder + "/home"
                try home.write(try home.text(server.caFile), to: own + "/certificates/ca.pem")
                try home.write("default login alice password NETRC\n", to: own + "/.netrc")
                try home.write("localhost\tFALSE\t/\tFALSE\t0\tsid\tCOOKIE\n", to: own + "/cookies")
                try home.write("[http]\n\tsslCAInfo = ~/certificates/ca.pem\n", to: own + "/more")
                try home.program("git-credential-giver", "printf 'username=alice\\npassword=HELPER\\n'")
                let url = server.url + path
                try home.write(
                    """
                    [include]
                        path = ~/more
                    [http]
                        cookieFile = ~/cookies
                        extraHeader = X-Secret: HEADER
                        emptyAuth = true
                        proactiveAuth = basic
                    [http "\(server.url)"]
                        cookieFile = ~/cookies
                        extraHeader = X-Secret: HEADER
                        saveCookies = true
                    [http "\(url)"]
                        cookieFile = ~/cookies
                        extraHeader = X-Secret: HEADER
                    [credential]
                        helper = giver
                    [url "https://alice:REWRITTEN@\(host)/"]
                        insteadOf = \(server.url)/

                    """, to: home.gitFile)
                // git itself sends all of that.
                _ = try await home.git(["ls-remote", url])
                let sent = try server.readSent()
                for secret in ["Authorization: Basic", "COOKIE", "HEADER"] {
                    #expect(sent.contains { $0.contains(secret) }, "\(secret) \(sent)")
                }
                _ = try server.readLog()
                let cookies = try home.text(own + "/cookies")

                let ended = try await home.lanyard(["explain", url, "--online"], ["TMPDIR": own])
                #expect(ended.output.contains("Basic as \"GitLab\""), "\(ended)")
                #expect(!(try server.readLog()).isEmpty)
                #expect(try server.readSent() == [])
                #expect(try home.text(own + "/cookies") == cookies)
                #expect(
                    try FileManager.default.contentsOfDirectory(atPath: own).allSatisfy { !$0.hasPrefix("lanyard") })
            }
        }
    }

    @Test(arguments: [false, true])
    func `a server is not asked where git has a client certificate for it`(inVariable: Bool) async throws {
        try await Home.with { home in
            try await GuardedServer.serve(.files, in: home.folder + "/server") { server in
                try server.guarded(by: "nobody's", challenge: "Basic")
                try await home.git(["config", "--global", "http.sslCAInfo", server.caFile])
                if !inVariable { try await home.git(["config", "--global", "http.\(server.url).sslCert", "/x.pem"]) }
                let ended = try await home.lanyard(
                    ["explain", server.url + "/x", "--online"], inVariable ? ["GIT_SSL_CERT": "/x.pem"] : [:])
                #expect(
                    ended.output.contains("could not be asked: git would sign in with a client certificate"), "\(ended)"
                )
                #expect(try server.readLog() == [])
            }
        }
    }
}
