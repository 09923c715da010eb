import AnswerCache
import Foundation
import Secrets
import Testing

/// Tokens that are recognised by themselves.
@Suite struct GivenTokensTests {
    @Test func `a token that was given is known in every form in which a tool may send it back`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("given-\(UUID())").path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let given = GivenTokens(environment: ["XDG_RUNTIME_DIR": folder])
        let token = "gho_16C7e42F292c6912E7710c838347Ae178B4a"
        let basic = Data("x:\(token)".utf8).base64EncodedString()
        let forms = [
            token, "Bearer \(token)", "token \(token)", basic, "Basic \(basic)",
            Data("\(token):x-oauth-basic".utf8).base64EncodedString(),
        ]
        for form in forms { #expect(!given.contain(Secret(form).fingerprints)) }
        given.note(Secret(token))
        for form in forms { #expect(given.contain(Secret(form).fingerprints), "\(form)") }
        for other in ["", "Bearer ", "\(token)x", "x\(token)", "::", "Og=="] {
            #expect(!given.contain(Secret(other).fingerprints), "\(other)")
        }
        let names = FileManager.default.enumerator(atPath: folder)?.allObjects.map { "\($0)" } ?? []
        #expect(names.count == 3 && !names.contains { $0.contains("gho_") })
    }
}
