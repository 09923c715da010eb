import Addresses
import Forwarding
import Model
import Rules
import Secrets
import Testing

@Suite struct WireTests {
    private static func block(_ lines: String) throws -> Attributes {
        var parser = AttributeParser(longestInput: 1 << 20)
        return try #require(try parser.consume(Array((lines + "\n\n").utf8)).first)
    }

    private static let place = "version=1\nverb=get\nprotocol=https\nhost=git.example"

    @Test func `what is asked for arrives as it was sent`() throws {
        var wanted = CredentialRequest(try RequestURL("https://alice@git.example:8443/team/repo.git"))
        wanted.wwwAuthenticate = ["Bearer realm=\"x\"", "Basic realm=\"y\""]
        wanted.refusedToken = "0123abc"
        wanted.takesAuthorizations = true
        wanted.takesFields = true
        wanted.reach = .above
        wanted.isUnattended = true
        let sent = ForwardedRequest(wanted, requester: "devbox", forward: "box")
        #expect(try ForwardedRequest(try sent.block()) == sent)
        var token = CredentialRequest()
        token.explicit.scopes = ["https://management.azure.com/.default"]
        token.explicit.tenant = "contoso.com"
        let other = ForwardedRequest(token, requester: "")
        #expect(try ForwardedRequest(try other.block()) == other)
    }

    private static let many = Array(repeating: "wwwauth[]=Basic", count: 200).joined(separator: "\n")

    private static let wrong: [(String, ProtocolError)] = [
        ("version=2\nverb=get", .invalid("version")), ("verb=get", .invalid("version")),
        ("version=1\nverb=store", .invalid("verb")), ("version=1\nverb=erase", .invalid("verb")),
        ("version=1", .invalid("verb")),
        ("\(place)\naccount=bob", .invalid("account")),
        ("\(place)\nauthority=https://evil.example", .invalid("authority")),
        ("\(place)\nclaims={}", .invalid("claims")), ("\(place)\nhost=a b", .invalid("host")),
        ("\(place)\nprotocol=1", .invalid("protocol")), ("\(place)\npath=a\u{1B}[31m", .invalid("path")),
        ("\(place)\nreach=everywhere", .invalid("reach")), ("\(place)\nscope[]=a b", .invalid("scope[]")),
        ("\(place)\ntenant=../x", .invalid("tenant")),
        ("\(place)\n" + many, .invalid("request")),
    ]

    @Test(arguments: wrong)
    func `what is no request, or asks for more, is refused`(_ lines: String, _ fault: ProtocolError) throws {
        let block = try Self.block(lines)
        #expect(throws: fault) { _ = try ForwardedRequest(block) }
    }

    @Test func `a name that a far side gives itself is a word of the characters that names of machines have`() throws {
        let sent = "\u{202E}dev) may \"b.o-x_1\" é? [y/N]" + String(repeating: "x", count: 500)
        let name = try ForwardedRequest(Self.block(Self.place + "\nrequester=" + sent)).requester
        #expect(name.hasPrefix("devmayb.o-x_1yNx") && name.count == 64)
    }

    @Test func `a reply arrives as it was sent, and a refresh token has no place in one`() throws {
        var token = Credential(.accessToken, Secret("t0ken"), username: "alice", expiresOn: 2_000_000_000)
        token.realm = "contoso.com"
        token.basicUsername = "oauth2"
        token.takesBearer = false
        token.fields = ["key": Secret("a=b")]
        let password = Credential(.password, Secret("p=w"), username: "bob", expiresOn: nil)
        let header = Credential(
            .authorization(scheme: "Negotiate"), Secret("x"), username: nil, expiresOn: nil)
        let refusal = ForwardedRefusal(.nobody, "nobody has signed in", remedies: ["sign in: lanyard login"])
        let replies: [ForwardedReply] = [
            .credential(token), .credential(password), .credential(header), .nothing, .refused(refusal),
        ]
        for reply in replies { #expect(try ForwardedReply(reply.block) == reply) }
        let carried = Credential(.password, Secret("p"), username: nil, oauthRefreshToken: Secret("r"))
        #expect(!ForwardedReply.credential(carried).block.lines.contains { $0.value == "r" })
        let more = try Self.block("version=1\nreply=credential\npassword=p\nusername=u\noauth_refresh_token=r")
        guard case .credential(let credential) = try ForwardedReply(more) else { Issue.record("no credential"); return }
        #expect(!ForwardedReply.credential(credential).block.lines.contains { $0.value == "r" })
    }

    @Test(arguments: [
        "reply=nothing", "version=2\nreply=nothing", "version=1", "version=1\nreply=maybe",
        "version=1\nreply=credential", "version=1\nreply=credential\npassword=a\u{7}",
        "version=1\nreply=credential\ncredential=a", "version=1\nreply=credential\npassword=a\nfield[]=x",
    ])
    func `what is no reply is none`(_ lines: String) throws {
        let block = try Self.block(lines)
        #expect(throws: ProtocolError.self) { _ = try ForwardedReply(block) }
    }

    @Test func `what an agent says can't move the cursor, and is bounded`() throws {
        let long = String(repeating: "m", count: 5000)
        let hints = Array(repeating: "hint[]=h", count: 20).joined(separator: "\n")
        let block = try Self.block("version=1\nreply=refused\nerror=odd\nmessage=\(long)\n\(hints)")
        guard case .refused(let refusal) = try ForwardedReply(block) else { Issue.record("no refusal"); return }
        #expect(refusal.code == .other && refusal.message.count <= 1001 && refusal.remedies.count == 8)
    }
}
