import Testing

@Suite struct TokenTests {
    @Test func `a refresh token works again after it was rotated, and for another resource`() async throws {
        try await withSandbox { sandbox in
            let first = try await SignInFlow(sandbox: sandbox).tokens()
            let token = first.text("refresh_token") ?? ""
            let second = try await refresh(token, scope: SignInFlow.git, sandbox)
            #expect(second.text("refresh_token") != token)
            let graph = try await refresh(token, scope: "https://graph.microsoft.com/User.Read", sandbox)
            #expect(graph.text("refresh_token") == nil)
            #expect(graph.text("scope") == "https://graph.microsoft.com/User.Read")
            let me = try await sandbox.get(
                "\(sandbox.resource)/v1.0/me", headers: ["Authorization": "Bearer \(graph.text("access_token") ?? "")"])
            #expect(me.text("userPrincipalName") == "alice@contoso.example")
            let both = try await refresh(token, scope: "User.Read api://sandbox-git/Repo.Read", sandbox)
            #expect(both["error_codes"] as? [Int] == [28000])
        }
    }

    @Test func `a refresh token that is good once takes its sign-in with it if it is used again`() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control("POST", "settings", #"{"single_use_refresh_tokens":1,"id_token_at_renewal":0}"#)
            let token = try await SignInFlow(sandbox: sandbox).tokens().text("refresh_token") ?? ""
            let other = try await SignInFlow(sandbox: sandbox).tokens().text("refresh_token") ?? ""
            let scope = SignInFlow.git + " openid offline_access"
            let second = try await refresh(token, scope: scope, sandbox)
            #expect(second.status == 200 && second.text("id_token") == nil)
            #expect(try await refresh(token, scope: scope, sandbox).text("suberror") == "bad_token")
            let rotated = second.text("refresh_token") ?? ""
            #expect(try await refresh(rotated, scope: scope, sandbox).text("suberror") == "bad_token")
            #expect(try await refresh(other, scope: scope, sandbox).status == 200)
        }
    }

    @Test func `a revoked refresh token says so`() async throws {
        try await withSandbox { sandbox in
            let token = try await SignInFlow(sandbox: sandbox).tokens().text("refresh_token") ?? ""
            try await sandbox.control("POST", "revoke", #"{"username":"alice@contoso.example"}"#)
            let answer = try await refresh(token, scope: SignInFlow.git, sandbox)
            #expect(answer.text("error") == "invalid_grant")
            #expect(answer.text("suberror") == "bad_token")
            #expect(answer["error_codes"] as? [Int] == [50173])
        }
    }

    @Test func `Azure Resource Manager goes by the names that az and the SDKs call it`() async throws {
        try await withSandbox { sandbox in
            var flow = SignInFlow(sandbox: sandbox)
            flow.clientID = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
            let token = try await flow.tokens().text("refresh_token") ?? ""
            for resource in [
                "https://management.core.windows.net/", "https://management.azure.com", "https://management.azure.com/",
            ] {
                let answer = try await refresh(token, scope: "\(resource)/.default", sandbox, client: flow.clientID)
                #expect(answer.status == 200 && answer.text("scope")?.hasPrefix(resource) == true, "\(resource)")
            }
        }
    }

    @Test func `a family shares its refresh tokens, others don't`() async throws {
        try await withSandbox { sandbox in
            var flow = SignInFlow(sandbox: sandbox)
            flow.clientID = "fa311100-0000-4000-8000-0000000000a1"
            let tokens = try await flow.tokens()
            #expect(tokens.text("foci") == "1")
            let token = tokens.text("refresh_token") ?? ""
            let relative = "fa311100-0000-4000-8000-0000000000b2"
            #expect(try await refresh(token, scope: "openid", sandbox, client: relative).status == 200)
            let stranger = try await refresh(token, scope: "openid", sandbox)
            #expect(stranger.text("suberror") == "client_mismatch")
        }
    }

    @Test func `scopes that are never granted are missing from the answer`() async throws {
        try await withSandbox { sandbox in
            var flow = SignInFlow(sandbox: sandbox)
            flow.clientID = "dec11e00-0000-4000-8000-0000000000c3"
            flow.scope = "api://sandbox-git/Repo.Read api://sandbox-git/Repo.Write"
            let answer = try await flow.tokens()
            #expect(answer.text("scope") == "api://sandbox-git/Repo.Read")
        }
    }

    @Test func `a device waits, is too fast, is approved once`() async throws {
        try await withSandbox { sandbox in
            try await sandbox.control("POST", "settings", #"{"device_code_interval":1}"#)
            let device = try await start(sandbox)
            #expect(try await poll(device, sandbox).text("error") == "authorization_pending")
            #expect(try await poll(device, sandbox).text("error") == "slow_down")
            #expect(try await visit(device, sandbox).succeeded)
            #expect(try await poll(device, sandbox).text("access_token") != nil)
            #expect(try await poll(device, sandbox).text("error") == "bad_verification_code")
        }
    }

    @Test func `a device is declined or runs out of time`() async throws {
        try await withSandbox { sandbox in
            let declined = try await start(sandbox)
            #expect(try await visit(declined, sandbox, ["--decline"]).succeeded)
            #expect(try await poll(declined, sandbox).text("error") == "authorization_declined")
            try await sandbox.control("POST", "settings", #"{"device_code_lifetime":0}"#)
            let late = try await start(sandbox)
            #expect(try await poll(late, sandbox).text("error") == "expired_token")
            #expect(try await visit(late, sandbox).succeeded == false)
            let forbidden = try await start(sandbox, client: "ca000000-0000-4000-8000-0000000000d4")
            #expect(forbidden["error_codes"] as? [Int] == [53003])
        }
    }

    private func refresh(
        _ token: String, scope: String, _ sandbox: RunningSandbox, client: String? = nil
    ) async throws -> RunningSandbox.Answer {
        try await sandbox.post(
            "\(sandbox.authority)/common/oauth2/v2.0/token",
            [
                "grant_type": "refresh_token", "client_id": client ?? sandbox.clientID,
                "refresh_token": token, "scope": scope,
            ])
    }

    private func start(_ sandbox: RunningSandbox, client: String? = nil) async throws -> RunningSandbox.Answer {
        try await sandbox.post(
            "\(sandbox.authority)/common/oauth2/v2.0/devicecode",
            ["client_id": client ?? sandbox.clientID, "scope": SignInFlow.git])
    }

    private func poll(
        _ device: RunningSandbox.Answer, _ sandbox: RunningSandbox
    ) async throws -> RunningSandbox.Answer {
        try await sandbox.post(
            "\(sandbox.authority)/common/oauth2/v2.0/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                "client_id": sandbox.clientID, "device_code": device.text("device_code") ?? "",
            ])
    }

    private func visit(
        _ device: RunningSandbox.Answer, _ sandbox: RunningSandbox, _ options: [String] = []
    ) async throws -> Program.Outcome {
        let page = device.text("verification_uri") ?? ""
        let code = device.text("user_code") ?? ""
        return try await Program.sandbox(
            ["sign-in", "--as", "bob@contoso.example", "--code", code] + options + [page], in: sandbox)
    }
}
