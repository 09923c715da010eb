import Foundation
import TestSupport
import Testing

/// git sends mail to a server with a rule.
@Suite(.enabled(if: Clients.folder != nil, "script/get tools has no mail server"))
struct MailTests {
    private struct Mail: Decodable {
        let username: String
        let password: String
        let subject: String
    }

    /// Returns a script that adds a rule, signs in, and sends the last commit as a patch.
    private static func script(_ world: World, user: String) -> String {
        """
        set -e
        url=smtp://127.0.0.1:$MAIL_PORT
        lanyard rule add $url --authority \(world.sandbox.authority)/common --client-id \(world.sandbox.clientID) \
            --scope api://sandbox-git/.default >/dev/null
        lanyard login $url --account \(user) >/dev/null
        lanyard doctor 2>&1 | grep -c 'is never used' || true
        git init --quiet repository
        cd repository
        export GIT_AUTHOR_NAME=Alice GIT_AUTHOR_EMAIL=\(user) GIT_COMMITTER_NAME=Alice GIT_COMMITTER_EMAIL=\(user)
        git commit --quiet --allow-empty --message one
        echo two >two
        git add two
        git commit --quiet --message two
        git -c sendemail.smtpServer=127.0.0.1 -c sendemail.smtpServerPort=$MAIL_PORT -c sendemail.smtpUser=\(user) \
            -c sendemail.smtpAuth=PLAIN send-email --quiet --confirm=never --to=list@contoso.example HEAD~1 >/dev/null
        lanyard token $url
        """
    }

    @Test func `git send-email signs in with the token of its server's rule`() async throws {
        try await World.with { world in
            let user = "alice@contoso.example"
            let sent = try await world.runInside(
                Clients.program("python"),
                [
                    Built.checkout + "/Tests/TestSupport/Scripts/with-mail-server", "sh", "-c",
                    Self.script(world, user: user),
                ],
                environment: world.environment.merging(world.browser(as: user)) { $1 })
            #expect(sent.status == 0, "\(sent)")
            let lines = sent.output.split(separator: "\n")
            try #require(lines.count == 3, "\(sent)")
            #expect(lines[0] == "0", "doctor thinks that the token is sent in the clear")
            let mail = try JSONDecoder().decode(Mail.self, from: Data(lines[1].utf8))
            #expect(mail.username == user)
            #expect(mail.password == String(lines[2]))
            #expect(mail.subject == "[PATCH] two")
        }
    }
}
